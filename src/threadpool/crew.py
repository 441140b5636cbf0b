"""The books, the decisions and the threads behind one plain lock.

Every event is: book it and decide under the lock, then carry out the orders after it.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from .accounts import Accounts
from .decide import Decisions
from .delivery import Delivery
from .ending import Ending
from .entry import Entry, State
from .errors import PoolStopped
from .gate import Gate
from .orders import Grow, Order, Ring, Wake, Warn
from .picture import StackOf
from .settings import PoolSettings
from .stacks import frames, stack_text
from .task import Task
from .worker import Worker

T = TypeVar("T")

StartThread = Callable[[Callable[[], None]], None]
"""Start a thread that runs this; RuntimeError or MemoryError when the system refuses."""


def daemon_thread(run: Callable[[], None]) -> None:
    """Start a thread that does not keep the process alive: a stuck task must not hang its exit."""
    threading.Thread(target=run, name="threadpool worker", daemon=True).start()


class Crew:
    """The threads of one pool. It never makes one itself: `start_thread` does."""

    def __init__(
        self,
        settings: PoolSettings,
        delivery: Delivery,
        log: Logger,
        *,
        clock: Callable[[], float] = time.monotonic,
        start_thread: StartThread = daemon_thread,
    ) -> None:
        self.lock = threading.Lock()
        self.books = Accounts(settings, clock)
        self.decisions = Decisions(self.books, self.stacks)
        self.workers: set[Worker] = set()
        self.delivery = delivery
        self.ending = Ending(self.books, delivery)
        self.gate = Gate(self._tick, settings.tick)
        self.stopping = self.abandoned = False
        self.on_empty: Callable[[], None] = _nothing
        self._settings = settings
        self._log = log
        self._start_thread = start_thread
        self._here = threading.local()

    def open(self) -> None:
        """Make threads from now on, for what was queued before as well."""
        with self.lock:
            if self.stopping:
                raise PoolStopped("a stopped pool does not start again")
            if self.books.open:
                return
            self.books.open = True
            self.gate.start()
            self.decisions.settle()
            orders = self.orders()
        self.carry_out(orders)

    # -- tasks, from any thread

    def admit(self, task: Task[Any]) -> None:
        """Queue a task; when stopping it fails at once instead."""
        with self.lock:
            if not self.stopping:
                self.books.enqueue(task)
                self.decisions.settle()
                if self.books.orders or self.gate.asleep:
                    orders = self.orders()
                else:
                    return
            else:
                self.ending.refuse(task)
                orders = self.orders()
        self.carry_out(orders)
        if task.settled and task.state is State.DONE:
            self.tell(task)

    def cancel(self, task: Task[Any]) -> bool:
        """Withdraw a queued task, detach a running one; False when its outcome is known."""
        with self.lock:
            if task.settled:
                return False
            self.ending.early(task, CancelledError())
            self.decisions.settle()
            orders = self.orders()
        self.carry_out(orders)
        self.tell(task)
        return True

    def deferred_of(self, task: Task[T]) -> "Deferred[T]":
        """The task's Deferred; of an ended task it fires soon."""
        with self.lock:
            late = task.promised is None and task.settled
            promise = task.promise()
            if late:
                self.delivery.add(task)
        if late:
            self.delivery.announce()
        return promise

    def tell(self, task: Task[Any]) -> None:
        """After the lock: tell who is to know of an outcome."""
        if task.listener is not None:
            task.tell()
        self.delivery.announce()

    # -- the foreman of its workers

    def arrive(self, worker: Worker) -> Task[Any] | None:
        """A worker that was started or woken looks for work."""
        with self.lock:
            self.books.searching -= 1
            task = self._next(worker)
            orders = self.orders()
        if orders:
            self.carry_out(orders)
        self.delivery.announce()
        return task

    def turn(self, worker: Worker, done: Task[Any], outcome: Any) -> Task[Any] | None:
        """A worker hands in an outcome and takes the next task, in one go."""
        books = self.books
        with self.lock:
            self._finish(done, outcome)
            task = self._next(worker)
            # Who goes on leaves it to a thread that comes anyway to wake the reactor, or wakes one:
            # so the short tasks that are run meanwhile share one wake.
            later = task is not None and done.promised is not None
            if later and not books.searching:
                if books.idle:
                    books.wake()
                else:
                    later = False
            orders = self.orders()
        if orders:
            self.carry_out(orders)
        if done.listener is not None:
            done.tell()
        if not later:
            self.delivery.announce()
        return task

    def finish(self, done: Task[Any], outcome: Any) -> None:
        """Hand in the outcome of a task that was run inside of a wait."""
        with self.lock:
            self._finish(done, outcome)
            self.decisions.settle()
            orders = self.orders()
        self.carry_out(orders)
        self.tell(done)

    def _finish(self, done: Task[Any], outcome: Any) -> None:
        settled = done.settled
        if not settled:
            if isinstance(outcome, Failure):
                self.books.tally.failed += 1
            done.ended(outcome)
        self.books.finish(done)
        done.forget_call()
        if not settled and done.promised is not None:
            self.delivery.add(done)

    def _next(self, worker: Worker) -> Task[Any] | None:
        books = self.books
        if books.regainers:
            books.regain()
        if worker.newest and not self.decisions.episode.active:
            worker.newest = False
        task = books.take(newest=worker.newest)
        if task is None:
            worker.newest = False
            if self.stopping:
                self._gone(worker)
            else:
                books.idle.append(worker)
        self.decisions.settle()
        return cast("Task[Any] | None", task)

    def _gone(self, worker: Worker) -> None:
        worker.gone = True
        self.workers.discard(worker)
        self.books.threads -= 1
        if not self.books.threads:
            self.on_empty()

    def patience(self) -> float | None:
        """Threads over the base park for the quiet time only."""
        over = self.books.threads > self._settings.base
        return self._settings.quiet if over else None

    def leave(self, worker: Worker) -> bool:
        """A worker over the base has been parked for the quiet time."""
        with self.lock:
            left = self.books.leave(worker, at_least=self._settings.base)
            if left:
                self.workers.discard(worker)
            return left

    def worker_here(self) -> Worker | None:
        """The worker whose thread this is."""
        return getattr(self._here, "worker", None)

    def enter(self, worker: Worker) -> None:
        """Called by each worker first, in its own thread."""
        self._here.worker = worker
        worker.thread = threading.get_ident()
        with self.lock:
            self.workers.add(worker)

    def stacks(self) -> StackOf:
        """Under the lock: a way to look up where the thread of a running task is now."""
        now = frames()
        threads: dict[Entry, int] = {
            task: worker.thread for worker in self.workers for task in worker.stack
        }
        return lambda entry: stack_text(now.get(threads.get(entry, 0)))

    # -- orders

    def orders(self) -> Sequence[Order]:
        """Under the lock: what the last decisions ask for; and the gate is rung if need be.

        Never the books' own list, not even empty: who holds the lock next writes into that one, and
        what it writes would be carried out twice.
        """
        if self.gate.asleep and not self.stopping and self.decisions.neglected():
            self.decisions.watch()
            self.gate.ring()
        orders = self.books.orders
        if not orders:
            return ()
        self.books.orders = []
        return orders

    def carry_out(self, orders: Sequence[Order]) -> None:
        """After the lock: do it."""
        for order in orders:
            match order:
                case Wake(worker):
                    assert isinstance(worker, Worker)
                    worker.wake()
                case Ring(wait):
                    wait.ring()
                case Grow(newest):
                    self._grow(newest=newest)
                case Warn(text):
                    self._log.warn("Thread pool starves: {text}", text=text)

    def _grow(self, *, newest: bool) -> None:
        worker = Worker(self, newest=newest)
        try:
            self._start_thread(lambda: worker.run(self.enter))
        except (RuntimeError, MemoryError) as error:
            with self.lock:
                self.books.not_started(self.books.clock())
                ceiling = self.books.ceiling
                if self.stopping and not self.books.threads:
                    self.on_empty()
                orders = self.orders()
            self._log.warn(
                "The system refuses a thread ({error}); going on with {n}", error=error, n=ceiling
            )
            self.carry_out(orders)

    def _tick(self) -> bool:
        with self.lock:
            again = self.decisions.tick() and not self.stopping
            self.gate.asleep = not again
            orders = self.orders()
        self.carry_out(orders)
        return again


def _nothing() -> None:
    """Nobody minds."""
