"""What the pool counts, and the picture of it that is handed out."""

from collections.abc import Mapping

from attrs import frozen

MOST = 1000
"""Names that are counted one by one; what comes after is counted as "others"."""


class Tally:
    """Counters that only grow, and peaks."""

    __slots__ = (
        "episodes", "failed", "finished", "grown", "helped", "in_transaction", "orphans",
        "peak_leases", "peak_threads", "refused", "started", "starved",
    )  # fmt: skip

    def __init__(self) -> None:
        self.started = self.finished = self.failed = 0
        self.helped = self.refused = 0
        self.peak_threads = self.peak_leases = 0
        self.grown: dict[str, int] = {}
        self.episodes: dict[str, int] = {}
        self.starved: dict[str, int] = {}
        self.orphans: dict[str, int] = {}
        self.in_transaction: dict[str, int] = {}

    def orphan(self, label: str) -> None:
        """A task was started although nobody knows what caused it."""
        _count(self.orphans, label)

    def waits_in_transaction(self, site: str) -> bool:
        """A task waits inside of a transaction there; True if this place is new."""
        fresh = site not in self.in_transaction and len(self.in_transaction) < MOST
        _count(self.in_transaction, site)
        return fresh


def _count(counts: dict[str, int], name: str) -> None:
    if name not in counts and len(counts) >= MOST:
        name = "others"
    counts[name] = counts.get(name, 0) + 1


@frozen(kw_only=True)
class PoolGauges:
    """A pool at one moment.

    `busy` threads run a task, `blocked` ones wait inside of one; the rest of `threads` is idle or
    on its way. `queued` is per kind, and `queue_age` the seconds that the oldest of them has been
    queued. `grown` counts threads made beyond the base, `grown_by` the same by reason ("base": the
    others wait; "awaited": for a task that a parked thread waits for; "continuation": for one that
    is taken for such a task; "stalled": nothing had ended for a tick). `refused` counts threads that
    the system would not give. `helped` counts tasks that ran on the thread of who waited for them.
    `orphans` counts by function the tasks that were started, out of their turn, without a known
    cause. `starvation_episodes` counts what was warned of, `starved` by certainty the waits that
    failed with StarvationError. `waits_in_transaction` counts them, `in_transaction_at` by place.
    `finished` counts every task that ended, `failed` those of them that raised or never ran.
    """

    threads: int
    busy: int
    blocked: int
    queued: Mapping[str, int]
    queue_age: Mapping[str, float]
    leases_out: int
    peak_threads: int
    peak_leases: int
    helped: int
    grown: int
    grown_by: Mapping[str, int]
    refused: int
    orphans: Mapping[str, int]
    starvation_episodes: int
    episodes_by: Mapping[str, int]
    starved: Mapping[str, int]
    waits_in_transaction: int
    in_transaction_at: Mapping[str, int]
    started: int
    finished: int
    failed: int
