r"""Work: what is to be done for one slot, and for whom.

    NEED_READ --read: as wished--> ended
        |  \--read: not so, and a command of ours may still come--> COMMANDED
        v
    NEED_COMMAND --accepted, or of unknown fate--> COMMANDED --read: as wished--> ended
        ^                                             |
        +----- the command was lost for certain ------+

A query is NEED_READ until any read answers it.
"""

from enum import Enum, auto, unique

from attrs import define, field

from drivers.interfaces import Limits
from switchgear.operation import Rank
from switchgear.power import Wish
from switchgear.wire.rack import Order

#: A check may be without an answer for so many call limits.
QUERY_LIMIT = 1.5
#: Seconds after which a sweep counts as a person's wish.
AGED = 60.0


@unique
class Phase(Enum):
    """Where a piece of work is."""

    NEED_READ = auto()
    NEED_COMMAND = auto()
    COMMANDED = auto()


@define
class Asked:
    """One operation that waits for this work. Only reads numbered above `mark` can settle it."""

    order: Order
    mark: int
    cancelled: bool = False

    @property
    def operation(self) -> str:
        """Return its id."""
        return self.order.operation


@define(eq=False)
class Work:
    """One wish for one slot. Time limits count from `since`, see there.

    own_since: start of the first call made for it since its last progress.
    outage_since: start of the first failed call in a row of failures, whatever it was for.
    missed: the reads since its command that did not show the effect, and the start of the last of them.
    """

    slot: str
    wish: Wish
    arrived: float
    seq: int
    asked: list[Asked] = field(factory=list)
    phase: Phase = Phase.NEED_READ
    commands: int = 0
    failures: int = 0
    not_before: float = 0.0
    misses: int = 0
    missed_at: float | None = None
    own_since: float | None = None
    outage_since: float | None = None
    began: bool = False

    def order_key(self, now: float) -> tuple[bool, int]:
        """Sort persons before sweeps, and each by arrival."""
        person = any(asked.order.rank is Rank.PERSON for asked in self.asked)
        return (not (person or now - self.arrived > AGED), self.seq)

    @property
    def since(self) -> float | None:
        """Return when its time limit began to count; None while it only waits."""
        known = [since for since in (self.own_since, self.outage_since) if since is not None]
        return min(known, default=None)

    def limit(self, limits: Limits) -> float:
        """Seconds it may be without progress. A person's check needs no more than a slow answer."""
        usual = QUERY_LIMIT * limits.call if self.wish is Wish.QUERY else limits.action
        own = [asked.order.limit for asked in self.asked if asked.order.limit is not None]
        return max(own, default=usual)

    def is_over(self, attempt_began: float, limits: Limits) -> bool:
        """Tell whether an attempt that began then is the one that decides."""
        return self.since is not None and attempt_began >= self.since + self.limit(limits)

    def attempted(self, at: float) -> None:
        """A call for it begins."""
        self.began = True
        if self.own_since is None:
            self.own_since = at

    def progressed(self, since: float | None = None) -> None:
        """It came further: its limit counts anew, from `since` or from the next call for it."""
        self.own_since, self.outage_since = since, None
