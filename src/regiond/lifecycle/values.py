"""What a decision about a node's life is made from, and what it can be."""

from attrs import frozen

from switchgear.life import Status, Verb
from switchgear.power import Power, Wish


@frozen(kw_only=True)
class Life:
    """Where a node is in its life. `before`: the status it had when it was marked broken."""

    status: Status
    before: Status | None = None
    owner: str | None = None
    reason: str | None = None


@frozen(kw_only=True)
class Wanted:
    """What is asked for a node. `owner` is who gets it, for allocate."""

    verb: Verb
    owner: str
    reason: str | None = None
    power_off: bool = True


@frozen
class Move:
    """The node gets a new life. With a `wish`, an operation is begun, and its end moves on."""

    life: Life
    wish: Wish | None = None


@frozen
class Operate:
    """An operation is begun; the life of the node stays as it is (until the operation ends)."""

    wish: Wish


@frozen
class Follow:
    """What is asked for is on its way already: it is followed, not begun again."""


@frozen
class Done:
    """What is asked for is so already."""


@frozen
class Refused:
    """The node's state does not allow it; `text` says which state that is, and what to do."""

    text: str


Decision = Move | Operate | Follow | Done | Refused


@frozen(kw_only=True)
class Facts:
    """What the record knows of a node when something is asked. `power`: the last one seen."""

    life: Life
    power: Power
