"""The books as gauges, for metrics and for tests."""

from .accounts import Accounts
from .tally import PoolGauges


def gauges(books: Accounts) -> PoolGauges:
    """Take the picture; under the pool's lock."""
    tally, now = books.tally, books.clock()
    held_back = dict.fromkeys(books.queues, 0)
    for entry in books.held_back:
        held_back[entry.kind] += 1
    return PoolGauges(
        threads=books.threads,
        busy=books.busy(),
        blocked=books.blocked,
        queued={kind: queue.count + held_back[kind] for kind, queue in books.queues.items()},
        queue_age={kind: _age(books, kind, now) for kind in books.queues},
        leases_out=books.leases_out(),
        peak_threads=tally.peak_threads,
        peak_leases=tally.peak_leases,
        helped=tally.helped,
        grown=sum(tally.grown.values()),
        grown_by=dict(tally.grown),
        refused=tally.refused,
        orphans=dict(tally.orphans),
        starvation_episodes=sum(tally.episodes.values()),
        episodes_by=dict(tally.episodes),
        starved=dict(tally.starved),
        waits_in_transaction=sum(tally.in_transaction.values()),
        in_transaction_at=dict(tally.in_transaction),
        started=tally.started,
        finished=tally.finished,
        failed=tally.failed,
    )


def _age(books: Accounts, kind: str, now: float) -> float:
    oldest = books.queues[kind].oldest()
    back = [entry.queued_at for entry in books.held_back if entry.kind == kind]
    times = [*back, oldest.queued_at] if oldest is not None else back
    return now - min(times, default=now)
