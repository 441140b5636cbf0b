"""How large a pool may become and how patient it is."""

from collections.abc import Mapping
from types import MappingProxyType

from attrs import Attribute, field, frozen

DB = "db"
"""The kind whose running tasks hold a database connection lease."""


def _at_least_one(_owner: object, attribute: "Attribute[int]", value: int) -> None:
    if value < 1:
        raise ValueError(f"{attribute.name} must be at least 1, not {value}")


def _quotas(quotas: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(quotas))


@frozen(kw_only=True)
class PoolSettings:
    """Bounds of one pool. Times are in seconds.

    `base` threads are kept; up to `ceiling` are made when work would otherwise starve. `quotas`
    names the kinds of task and how many of each may run at once (a task that waits for another is
    not running). `leases` is the budget of database connections: a task of kind "db" holds one
    while it runs. With `strict`, waiting inside of a transaction raises BlockedInTransaction;
    without, it is counted and logged once per call site.

    A thread over `base` leaves after `quiet` seconds without work. When no task has finished for
    `tick` seconds while work is queued, one thread is added a tick. A presumed starvation is
    acted upon after `grace`, one that nobody can prove only after `legal_wait`.
    A waiting thread runs at most `help_limit` awaited tasks on top of each other. With `help_first`
    it runs the awaited task as soon as that has a place, even if another thread could: fewest
    threads, but what it waits for runs in its own time.

    Raises ValueError for bounds that cannot be kept.
    """

    base: int = field(default=10, validator=_at_least_one)
    ceiling: int = field(default=40, validator=_at_least_one)
    quotas: Mapping[str, int] = field(factory=lambda: {DB: 40, "io": 40}, converter=_quotas)
    leases: int = field(default=10, validator=_at_least_one)
    strict: bool = False
    quiet: float = 5.0
    tick: float = 0.5
    grace: float = 2.0
    legal_wait: float = 300.0
    help_limit: int = 16
    help_first: bool = False

    def __attrs_post_init__(self) -> None:
        if self.ceiling < self.base:
            raise ValueError(f"ceiling {self.ceiling} is below base {self.base}")
        for kind, quota in self.quotas.items():
            if quota < 1:
                raise ValueError(f"the quota of kind {kind!r} must be at least 1, not {quota}")

    def places(self) -> dict[str, int]:
        """How many tasks of each kind may run at once: its quota, for "db" also the leases."""
        return {
            kind: min(quota, self.leases) if kind == DB else quota
            for kind, quota in self.quotas.items()
        }
