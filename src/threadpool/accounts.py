"""The pool's books: who is queued, runs, waits and holds a place. It decides nothing.

Every method is one booking. Nothing here knows threads: a worker is any object.
"""

from collections import deque
from collections.abc import Callable

from .entry import Entry, Phase, State, Wait, living
from .fairqueue import FairQueue
from .orders import Grow, Order, Ring, Wake
from .settings import DB, PoolSettings
from .tally import PoolGauges, Tally


class Accounts:
    """The books of one pool.

    `room` counts the free places of each kind, `blocked` the threads that are parked in a wait,
    `searching` the threads that were woken or started and have not looked for work yet.
    `ceiling` is the settings', or lower for a while after the system refused a thread.
    `hopeful` are waits that may be waiting for a queued task.
    """

    def __init__(self, settings: PoolSettings, clock: Callable[[], float]) -> None:
        self.settings = settings
        self.clock = clock
        self.tally = Tally()
        self.queues = {kind: FairQueue() for kind in settings.quotas}
        self.places = settings.places()
        self.room = dict(self.places)
        self.regaining: dict[str, deque[Wait]] = {kind: deque() for kind in settings.quotas}
        self.regainers = 0
        self.queued = self.threads = self.searching = self.blocked = 0
        self.idle: list[object] = []
        self.running: dict[int, Entry] = {}
        self.waits: dict[Wait, None] = {}
        self.hopeful: dict[Wait, None] = {}
        self.ceiling = settings.ceiling
        self._refused = 0.0
        self.open = False  # threads may be made
        self.orders: list[Order] = []

    # -- tasks

    def enqueue(self, entry: Entry) -> None:
        """Queue it; if it was submitted for a wait on the reactor, that wait hopes for it."""
        self.queues[entry.kind].push(entry)
        self.queued += 1
        wait = entry.presumed
        if wait is not None and wait.phase is not Phase.OVER:
            wait.children.append(entry)
            self.hopeful[wait] = None

    def take(self, *, newest: bool = False) -> Entry | None:
        """Start the next task whose kind has room, in the pool's order; None if there is none."""
        queue = self._next_queue()
        if queue is None:
            return None
        queue.served = self.tally.started
        if newest:
            return self.start(queue.newest())
        entry = queue.pop()
        self._started(entry)
        return entry

    def _next_queue(self) -> FairQueue | None:
        best, rank = None, (-1, 0)
        for kind, queue in self.queues.items():
            if queue.count and self.room[kind] > 0:
                its = (queue.deepest(), -queue.served)
                if best is None or its > rank:
                    best, rank = queue, its
        return best

    def start(self, entry: Entry) -> Entry:
        """Start this queued task out of turn."""
        self._started(entry)
        self.queues[entry.kind].discard(entry)
        return entry

    def _started(self, entry: Entry) -> None:
        self.queued -= 1
        entry.state = State.RUNNING
        self._enter(entry)
        self.running[entry.id] = entry
        self.tally.started += 1

    def _enter(self, entry: Entry) -> None:
        entry.held = True
        self.room[entry.kind] -= 1
        if entry.kind == DB:
            self.tally.peak_leases = max(self.tally.peak_leases, self.leases_out())

    def leases_out(self) -> int:
        """How many database connection leases are held."""
        return self.places[DB] - self.room[DB] if DB in self.places else 0

    def withdraw(self, entry: Entry) -> None:
        """End a queued task that has not run."""
        entry.state = State.DONE
        self.queued -= 1
        self.queues[entry.kind].discard(entry)
        self.settle_entry(entry)

    def finish(self, entry: Entry) -> None:
        """End a running task: its place comes free and who waits for it goes on."""
        entry.state = State.DONE
        del self.running[entry.id]
        if entry.held:
            entry.held = False
            self.room[entry.kind] += 1
        self.tally.finished += 1
        if entry.parent is not None:
            # A task that hands on to the next for ever must not keep all of its forebears.
            entry.parent = living(entry.parent)
        entry.presumed = None
        self.settle_entry(entry)

    def settle_entry(self, entry: Entry) -> None:
        """Its outcome is known: release who waits for it, but not the thread that runs it."""
        entry.settled = True
        for wait in entry.waits or ():
            if wait.helping is entry:
                if entry.state is not State.DONE:
                    continue
                wait.helping, wait.phase = None, Phase.WAITING
                self.blocked += 1
            self.settle_wait(wait, by=entry)
        if entry.state is State.DONE:
            entry.waits = None

    # -- waits

    def block(self, wait: Wait) -> None:
        """A running task begins to wait, and gives its place back unless it must keep it."""
        waiter = wait.waiter
        waiter.wait = wait
        self.waits[wait] = None
        self.blocked += 1
        if not wait.keeps:
            waiter.held = False
            self.room[waiter.kind] += 1
        if wait.awaited is None:
            return
        _waited_by(wait.awaited, wait)
        if wait.awaited.state is State.QUEUED:
            self.hopeful[wait] = None

    def help(self, wait: Wait, entry: Entry) -> None:
        """The waiting thread runs this queued task itself."""
        self.start(entry)
        wait.phase, wait.helping = Phase.HELPING, entry
        self.blocked -= 1
        _waited_by(entry, wait)
        self.tally.helped += 1
        self.orders.append(Ring(wait))

    def settle_wait(self, wait: Wait, by: Entry | None = None) -> None:
        """What it waits for (`by`, or the reactor's answer) has come; it goes on when it can."""
        if by is wait.awaited:
            wait.settled = True
        if wait.settled and wait.phase is Phase.WAITING:
            self._ready(wait)

    def break_wait(self, wait: Wait, error: Exception) -> bool:
        """End a parked wait with an error; False if it helps or is ending already."""
        if wait.phase is not Phase.WAITING:
            return False
        wait.error = error
        if wait.awaited is not None and wait.awaited.waits is not None:
            wait.awaited.waits.remove(wait)
        wait.settled = True
        self._ready(wait)
        return True

    def _ready(self, wait: Wait) -> None:
        self.hopeful.pop(wait, None)
        kind = wait.waiter.kind
        if wait.keeps or (self.room[kind] > 0 and not self.regaining[kind]):
            self._go(wait)
        else:
            wait.phase = Phase.REGAINING
            self.regaining[kind].append(wait)
            self.regainers += 1

    def could_go(self, wait: Wait) -> bool:
        """Whether its task could go on at once, if the wait were over."""
        return wait.keeps or self.room[wait.waiter.kind] > 0

    def regain(self) -> None:
        """Give free places to the tasks that gave theirs back, ahead of everything queued."""
        for kind, line in self.regaining.items():
            while line and self.room[kind] > 0:
                self.regainers -= 1
                self._go(line.popleft())

    def _go(self, wait: Wait) -> None:
        waiter = wait.waiter
        if not wait.keeps:
            self._enter(waiter)
        wait.phase = Phase.OVER
        waiter.wait = None
        self.blocked -= 1
        del self.waits[wait]
        self.orders.append(Ring(wait))

    # -- threads

    def grow(self, *, newest: bool = False) -> None:
        """One more thread is being started."""
        if self.threads >= self.settings.base:
            self.tally.grown += 1
        self.threads += 1
        self.searching += 1
        self.tally.peak_threads = max(self.tally.peak_threads, self.threads)
        self.orders.append(Grow(newest))

    def wake(self) -> None:
        """The worker that was parked last is to look for work: its caches are the warmest."""
        self.searching += 1
        self.orders.append(Wake(self.idle.pop()))

    def not_started(self, now: float) -> None:
        """The system refused a thread: what it has is the ceiling until `recover`."""
        self.threads -= 1
        self.searching -= 1
        self.ceiling = max(1, self.threads)
        self._refused = now

    def recover(self, now: float) -> None:
        """Try the whole ceiling again `quiet` seconds after a refusal."""
        if self.ceiling < self.settings.ceiling and now - self._refused >= self.settings.quiet:
            self.ceiling = self.settings.ceiling

    def leave(self, worker: object, at_least: int) -> bool:
        """A parked worker leaves if more than `at_least` threads are there; False if it stays."""
        if self.threads <= at_least or worker not in self.idle:
            return False
        self.idle.remove(worker)
        self.threads -= 1
        return True

    def spare(self) -> int:
        """Threads that have nothing to do, or are on their way to look."""
        return len(self.idle) + self.searching

    def can_grow(self) -> bool:
        """Whether another thread may be made."""
        return self.open and self.threads < self.ceiling

    def startable(self) -> int:
        """How many queued tasks could start if there were threads."""
        total = 0
        for kind, queue in self.queues.items():
            if queue.count:  # a plain loop: it runs once for each task handed in
                total += min(queue.count, self.room[kind])
        return total

    def gauges(self) -> PoolGauges:
        """The books at this moment."""
        tally = self.tally
        return PoolGauges(
            threads=self.threads,
            busy=self.threads - len(self.idle) - self.searching - self.blocked,
            blocked=self.blocked,
            queued={kind: queue.count for kind, queue in self.queues.items()},
            leases_out=self.leases_out(),
            peak_threads=tally.peak_threads,
            peak_leases=tally.peak_leases,
            helped=tally.helped,
            grown=tally.grown,
            starvation_episodes=tally.episodes,
            waits_in_transaction=tally.in_transaction,
            started=tally.started,
            finished=tally.finished,
            failed=tally.failed,
        )


def _waited_by(entry: Entry, wait: Wait) -> None:
    if entry.waits is None:
        entry.waits = [wait]
    elif wait not in entry.waits:
        entry.waits.append(wait)
