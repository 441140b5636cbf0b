"""What the pool counts, and the picture of it that is handed out."""

from collections.abc import Mapping

from attrs import frozen


class Tally:
    """Counters that only grow, and peaks."""

    __slots__ = (
        "episodes", "failed", "finished", "grown", "helped", "in_transaction", "peak_leases",
        "peak_threads", "started",
    )  # fmt: skip

    def __init__(self) -> None:
        self.started = self.finished = self.failed = 0
        self.helped = self.grown = self.episodes = self.in_transaction = 0
        self.peak_threads = self.peak_leases = 0


@frozen(kw_only=True)
class PoolGauges:
    """A pool at one moment.

    `busy` threads run a task, `blocked` ones wait inside of one; the rest of `threads` is idle or
    on its way. `queued` is per kind. `grown` counts threads made beyond the base,
    `helped` tasks that ran on the thread of who waited for them. `finished` counts every task that
    ended, `failed` those of them that raised or never ran.
    """

    threads: int
    busy: int
    blocked: int
    queued: Mapping[str, int]
    leases_out: int
    peak_threads: int
    peak_leases: int
    helped: int
    grown: int
    starvation_episodes: int
    waits_in_transaction: int
    started: int
    finished: int
    failed: int
