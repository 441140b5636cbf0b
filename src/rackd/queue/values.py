"""What goes into a chassis queue and what comes out of it, as values."""

from collections.abc import Mapping

from attrs import frozen

from drivers.interfaces import Fate
from switchgear.power import Fault, Power, Wish
from switchgear.wire.rack import Seen


@frozen(kw_only=True)
class StartRead:
    """Read the whole chassis. `limit`: seconds after which the call is aborted."""

    call: int
    number: int
    limit: float


@frozen(kw_only=True)
class StartCommand:
    """Send one command, after its intent was recorded. `operation`: the oldest one that asked for it."""

    call: int
    slot: str
    wish: Wish
    limit: float
    operation: str


@frozen
class CloseSession:
    """End the session with the chassis before the next call."""


@frozen
class Tell:
    """Something for the region."""

    seen: Seen


@frozen
class Found:
    """What a discovery found, or why it could not read."""

    ticket: str
    found: Mapping[str, Power] | Fault


Action = StartRead | StartCommand | CloseSession | Tell | Found


@frozen
class Answered:
    """A read ended well: the power of every slot of the chassis."""

    powers: Mapping[str, Power]


@frozen
class Accepted:
    """A command ended well: the chassis accepted it."""


@frozen
class Broke:
    """A call failed. `fate` counts for a command only."""

    fault: Fault
    fate: Fate


Outcome = Answered | Accepted | Broke


@frozen(kw_only=True)
class Intent:
    """A command that an earlier life of the rack meant to send: it may have arrived.

    `sent_at` is on the queue's clock (it may be negative, for a time before this boot).
    """

    slot: str
    wish: Wish
    sent_at: float
    operation: str
