"""Errors that cross a border. Each class says who can act; its docstring is fit for a user.

`code` travels on the wire and in JSON, so it never changes. Code acts on the class, never on the text.
"""

from typing import ClassVar


class SwitchgearError(Exception):
    """Something failed in a way that Switchgear knows about."""

    code: ClassVar[str] = "INTERNAL"


class BadRequest(SwitchgearError):
    """The request itself is wrong; nothing was done. Change it and ask again."""

    code = "BAD_REQUEST"


class NoSuchThing(BadRequest):
    """The request names a node, chassis or operation that does not exist; nothing was done."""

    code = "NO_SUCH_THING"


class Conflict(SwitchgearError):
    """The state of the node or chassis does not allow this now; nothing was done."""

    code = "CONFLICT"


class TryAgain(SwitchgearError):
    """A part of Switchgear is away for the moment (often the database). Ask again in a few seconds."""

    code = "TRY_AGAIN"


class StaleEpoch(SwitchgearError):
    """The message belongs to a lease that another rack, or a newer incarnation, holds now."""

    code = "STALE_EPOCH"


class VersionMismatch(SwitchgearError):
    """The two sides speak versions of the protocol that do not fit. Upgrade the older side."""

    code = "VERSION_MISMATCH"


class Bug(SwitchgearError):
    """Switchgear did something that it never should. The daemon's log has the details."""

    code = "BUG"
