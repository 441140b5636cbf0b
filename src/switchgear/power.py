"""Power as the whole product speaks of it: what is wished, what was seen, and why it could not be seen."""

import re
from enum import StrEnum, unique

from attrs import field, frozen


@unique
class Power(StrEnum):
    """What a query returned. Only ``ON`` and ``OFF`` are states; the other two say why there is none."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"
    ERROR = "error"


@unique
class Wish(StrEnum):
    """What an operation asks of one node's power."""

    ON = "on"
    OFF = "off"
    QUERY = "query"

    @property
    def power(self) -> Power | None:
        """Return the state that satisfies this wish; None for a query, which any answer satisfies."""
        return {Wish.ON: Power.ON, Wish.OFF: Power.OFF}.get(self)


@unique
class ErrorClass(StrEnum):
    """The kinds of failure, everywhere the same. What each one means for a retry is in docs/drivers.md."""

    AUTH = "auth"
    CONNECTION = "connection"
    BUSY = "busy"
    SETTINGS = "settings"
    UNSUPPORTED = "unsupported"
    TIMED_OUT = "timed-out"
    REFUSED = "refused"
    INTERNAL = "internal"


#: Longest text of a fault, event or reason that is kept; more is cut with a mark.
TEXT_LIMIT = 1000


#: Longest name of a slot that is believed.
SLOT_LIMIT = 200

#: What JSON text may carry and UTF-8 or a PostgreSQL text cannot: half a surrogate pair, and NUL.
_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")


def keepable(text: str) -> str:
    """Return `text` with a mark (U+FFFD) for each character that can't be sent or stored."""
    return _UNKEEPABLE.sub("\ufffd", text)


def cut(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return `text` in one line of at most `limit` characters, with a mark where it was cut.

    What came from a device may hold anything; what is returned can be sent and stored.
    """
    flat = " ".join(keepable(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


@frozen
class Fault:
    """Why something failed: a class that code acts on and a text that a person can act on."""

    kind: ErrorClass
    text: str = field(converter=cut)

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"
