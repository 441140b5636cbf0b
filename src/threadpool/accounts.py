"""The pool's books: who is queued, runs, waits and holds a place. It decides nothing.

Every method is one booking. Nothing here knows threads: a worker is any object.
"""

from collections import deque
from collections.abc import Callable

from .entry import DONE, QUEUED, RUNNING, Entry, Phase, Wait, living
from .fairqueue import FairQueue
from .heights import Heights
from .learning import Learning
from .orders import Ring
from .settings import DB, PoolSettings
from .threads import ThreadBook


class Accounts(ThreadBook):
    """The books of one pool.

    `room` counts the free places of each kind. `hopeful` are waits that may be waiting for a queued
    task. `held_back` are queued tasks that the height rule lets wait. `continuations` are queued
    tasks that nobody is known to wait for, but whose function was seen to be waited for.
    """

    def __init__(self, settings: PoolSettings, clock: Callable[[], float]) -> None:
        super().__init__(settings)
        self.clock = clock
        self.queues = {kind: FairQueue() for kind in settings.quotas}
        self.places = settings.places()
        self.room = dict(self.places)
        self.regaining: dict[str, deque[Wait]] = {kind: deque() for kind in settings.quotas}
        self.regainers = self.queued = 0
        self.running: dict[int, Entry] = {}
        self.waits: dict[Wait, None] = {}
        self.hopeful: dict[Wait, None] = {}
        self.heights = Heights()
        self.held_back: list[Entry] = []
        self.learning = Learning()
        self.continuations: dict[Entry, None] = {}

    # -- tasks

    def enqueue(self, entry: Entry) -> None:
        """Queue it; if it was submitted for a wait on the reactor, that wait hopes for it."""
        entry.queued_at = self.clock()
        if self.learning.known and entry.parent is None and self.learning.knows(entry.label):
            entry.depth = 1
            self.continuations[entry] = None
        self.queues[entry.kind].push(entry)
        self.queued += 1
        wait = entry.presumed
        if wait is not None and wait.phase is not Phase.OVER:
            wait.children.append(entry)
            self.hopeful[wait] = None
            self._reckon(wait)

    def take(self, *, newest: bool = False) -> Entry | None:
        """Start the next task whose kind has room, in the pool's order; None if there is none."""
        while True:
            queue = self._next_queue()
            if queue is None:
                return None
            if newest:
                return self._orphan(self.start(queue.newest()))
            entry = queue.pop()
            if entry.height and not self._admit_tall(entry):
                continue
            queue.served = self.tally.started
            self._started(entry)
            return entry

    def _next_queue(self) -> FairQueue | None:
        best, rank = None, (-1, 0)
        room = self.room
        for kind, queue in self.queues.items():
            if queue.count and room[kind] > 0:
                if best is None:
                    best = queue
                    continue
                if rank[0] < 0:
                    rank = (best.deepest(), -best.served)
                its = (queue.deepest(), -queue.served)
                if its > rank:
                    best, rank = queue, its
        return best

    def _admit_tall(self, entry: Entry) -> bool:
        """Enter it by the height rule, or keep it back until a tall one ends."""
        if self.heights.admits(entry.height, self.ceiling):
            self.heights.enter(entry.height)
            entry.tall = True
            return True
        self.held_back.append(entry)
        return False

    def _shorter(self, entry: Entry) -> None:
        """A tall one has ended: what was held back takes its old place in the queue."""
        self.heights.leave(entry.height)
        entry.tall = False
        back, self.held_back = self.held_back, []
        for other in back:
            if other.state is QUEUED:
                self.queues[other.kind].push(other)

    def start(self, entry: Entry) -> Entry:
        """Start this queued task out of turn."""
        self._started(entry)
        if entry in self.held_back:
            self.held_back.remove(entry)
        else:
            self.queues[entry.kind].discard(entry)
        return entry

    def _orphan(self, entry: Entry) -> Entry:
        if entry.parent is None and not entry.token:
            entry.orphan = True
            self.tally.orphan(entry.label)
        return entry

    def _started(self, entry: Entry) -> None:
        self.queued -= 1
        entry.state = RUNNING
        self._enter(entry)
        self.running[entry.id] = entry
        self.tally.started += 1
        if self.continuations:
            self.continuations.pop(entry, None)

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
        entry.state = DONE
        self.queued -= 1
        self.continuations.pop(entry, None)
        if entry in self.held_back:
            self.held_back.remove(entry)
        else:
            self.queues[entry.kind].discard(entry)
        self.settle_entry(entry)

    def finish(self, entry: Entry) -> None:
        """End a running task: its place comes free and who waits for it goes on."""
        entry.state = DONE
        del self.running[entry.id]
        if entry.held:
            entry.held = False
            self.room[entry.kind] += 1
        self.tally.finished += 1
        if entry.tall:
            self._shorter(entry)
        if entry.orphan:
            self.learning.orphan_ended(entry, self.clock())
        if entry.parent is not None:
            # A task that hands on to the next for ever must not keep all of its forebears.
            entry.parent = living(entry.parent)
        entry.settled = True
        if entry.waits or entry.presumed is not None:
            self.settle_entry(entry)
            entry.presumed = None

    def settle_entry(self, entry: Entry) -> None:
        """Its outcome is known: release who waits for it, but not the thread that runs it."""
        entry.settled = True
        for wait in entry.waits or ():
            if wait.helping is entry:
                if entry.state is not DONE:
                    continue
                wait.helping, wait.phase = None, Phase.WAITING
                self.blocked += 1
            self.settle_wait(wait, by=entry)
        if entry.presumed is not None:
            self._reckon(entry.presumed)
        if entry.state is DONE:
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
        self._reckon(wait)
        if wait.awaited is None:
            return
        _waited_by(wait.awaited, wait)
        if wait.awaited.state is QUEUED:
            self.hopeful[wait] = None

    def _reckon(self, wait: Wait) -> None:
        """Count it as opaque, or not, as it is now."""
        opaque = wait.phase is Phase.WAITING and wait.awaited is None and not wait.pending()
        if opaque is not wait.opaque:
            wait.opaque = opaque
            self.opaque += 1 if opaque else -1

    def help(self, wait: Wait, entry: Entry) -> None:
        """The waiting thread runs this queued task itself."""
        self.start(entry)
        wait.phase, wait.helping = Phase.HELPING, entry
        self.blocked -= 1
        self._reckon(wait)
        _waited_by(entry, wait)
        self.tally.helped += 1
        self.orders.append(Ring(wait))

    def settle_wait(self, wait: Wait, by: Entry | None = None) -> None:
        """What it waits for (`by`, or the reactor's answer) has come; it goes on when it can."""
        if by is wait.awaited:
            wait.settled = True
            if by is None:
                self._learn(wait)
        if wait.settled and wait.phase is Phase.WAITING:
            self._ready(wait)

    def _learn(self, wait: Wait) -> None:
        """An orphan's end may be what this wait for the reactor needed: know the next one at once."""
        label = self.learning.answered(wait, self.clock(), self.settings.tick)
        if not label:
            return
        for queue in self.queues.values():
            moved = queue.deepen(lambda entry: entry.parent is None and entry.label == label)
            self.continuations.update(dict.fromkeys(moved))

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
            self._reckon(wait)

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
        self._reckon(wait)
        waiter.wait = None
        self.blocked -= 1
        del self.waits[wait]
        self.orders.append(Ring(wait))

    def startable(self) -> bool:
        """Whether a queued task could start if there were a thread."""
        room = self.room
        for kind, queue in self.queues.items():  # noqa: SIM110 - it runs for each task handed in
            if queue.count and room[kind] > 0:
                return True
        return False


def _waited_by(entry: Entry, wait: Wait) -> None:
    if entry.waits is None:
        entry.waits = [wait]
    elif wait not in entry.waits:
        entry.waits.append(wait)
