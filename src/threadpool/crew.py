"""The books, the decisions and the threads behind one plain lock.

Every event is: book it and decide under the lock, then carry out the orders after it.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from .accounts import Accounts
from .decide import Decisions
from .delivery import Delivery
from .entry import Entry, State
from .errors import PoolStopped
from .gate import Gate
from .orders import Grow, Order, Ring, Wake, Warn
from .settings import PoolSettings
from .task import Task, failure
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
        self.decisions = Decisions(self.books)
        self.delivery = delivery
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
            refused = self.stopping
            if refused:
                self._refuse(task)
                told = task.ended(failure(PoolStopped("the pool is stopped")))
                task.settled = True
            else:
                self.books.enqueue(task)
                self.decisions.settle()
            orders = self.orders()
        self.carry_out(orders)
        if refused and told:
            self.tell(task)

    def _refuse(self, task: Task[Any]) -> None:
        task.state = State.DONE
        task.look_away()
        self.books.tally.failed += 1
        self.books.tally.finished += 1

    def cancel(self, task: Task[Any]) -> bool:
        """Withdraw a queued task, detach a running one; False when its outcome is known."""
        with self.lock:
            if task.settled:
                return False
            told = self._end_early(task, CancelledError())
            self.decisions.settle()
            orders = self.orders()
        self.carry_out(orders)
        if told:
            self.tell(task)
        return True

    def _end_early(self, task: Task[Any], error: Exception) -> bool:
        """Under the lock: give it this outcome, whether it is queued or runs."""
        task.look_away()  # it is known why; a line for each queued task at a stop helps nobody
        told = task.ended(failure(error))
        if task.state is State.QUEUED:
            self.books.withdraw(task)
            self.books.tally.finished += 1
            task.forget_call()
        else:
            self.books.settle_entry(task)
        self.books.tally.failed += 1
        return told

    def fail_queued(self, error: Exception) -> list[Task[Any]]:
        """Under the lock: end every queued task with this error; those somebody is to be told of."""
        queued = [entry for queue in self.books.queues.values() for entry in queue.entries()]
        told = [task for task in map(_task, queued) if self._end_early(task, error)]
        self.decisions.settle()
        return told

    def abandon(self, error: Exception) -> list[Task[Any]]:
        """Under the lock: end every wait and detach every running task, likewise."""
        self.abandoned = True
        for wait in list(self.books.waits):
            self.books.break_wait(wait, error)
        running = [task for task in map(_task, self.books.running.values()) if not task.settled]
        return [task for task in running if self._end_early(task, error)]

    def deferred_of(self, task: Task[T]) -> "Deferred[T]":
        """The task's Deferred; of an ended task it fires soon."""
        with self.lock:
            fresh = not task.promised()
            promise = task.promise()
            late = fresh and task.settled
        if late:
            self.delivery.push(task)
        return promise

    def tell(self, task: Task[Any]) -> None:
        """After the lock: tell who is to know of the outcome."""
        task.tell()
        if task.promised():
            self.delivery.push(task)

    # -- the foreman of its workers

    def arrive(self, worker: Worker) -> Task[Any] | None:
        """A worker that was started or woken looks for work."""
        with self.lock:
            self.books.searching -= 1
            task = self._next(worker)
            orders = self.orders()
        self.carry_out(orders)
        return task

    def turn(self, worker: Worker, done: Task[Any], outcome: Any) -> Task[Any] | None:
        """A worker hands in an outcome and takes the next task, in one go."""
        with self.lock:
            told = self._finish(done, outcome)
            task = self._next(worker)
            orders = self.orders()
        if orders:
            self.carry_out(orders)
        if told:
            self.tell(done)
        return task

    def finish(self, done: Task[Any], outcome: Any) -> None:
        """Hand in the outcome of a task that was run inside of a wait."""
        with self.lock:
            told = self._finish(done, outcome)
            self.decisions.settle()
            orders = self.orders()
        self.carry_out(orders)
        if told:
            self.tell(done)

    def _finish(self, done: Task[Any], outcome: Any) -> bool:
        done.forget_call()
        if not done.settled and isinstance(outcome, Failure):
            self.books.tally.failed += 1
        told = done.ended(outcome)
        self.books.finish(done)
        return told

    def _next(self, worker: Worker) -> Task[Any] | None:
        books = self.books
        if books.regainers:
            books.regain()
        task = books.take(newest=worker.newest)
        worker.newest = False
        if task is None:
            if self.stopping:
                self._gone(worker)
            else:
                books.idle.append(worker)
        self.decisions.settle()
        assert task is None or isinstance(task, Task)
        return task

    def _gone(self, worker: Worker) -> None:
        worker.gone = True
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
            return self.books.leave(worker, at_least=self._settings.base)

    def worker_here(self) -> Worker | None:
        """The worker whose thread this is."""
        return getattr(self._here, "worker", None)

    def enter(self, worker: Worker) -> None:
        """Called by each worker first, in its own thread."""
        self._here.worker = worker

    # -- orders

    def orders(self) -> list[Order]:
        """Under the lock: what the last decisions ask for; and the gate is rung if need be."""
        if self.gate.asleep and not self.stopping and self.decisions.neglected():
            self.decisions.watch()
            self.gate.ring()
        orders = self.books.orders
        if orders:
            self.books.orders = []
        return orders

    def carry_out(self, orders: list[Order]) -> None:
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


def _task(entry: Entry) -> Task[Any]:
    assert isinstance(entry, Task)
    return entry


def _nothing() -> None:
    """Nobody minds."""
