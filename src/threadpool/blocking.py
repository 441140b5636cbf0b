"""A running task waits: for another task, or for the reactor thread. Only workers wait."""

import time
from collections.abc import Callable
from contextvars import copy_context
from inspect import iscoroutine
from threading import Lock
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorFromThreads
from twisted.logger import Logger
from twisted.python.failure import Failure

from .causes import CAUSE
from .crew import Crew
from .entry import Entry, Wait
from .errors import BlockedInTransaction, PoolStopped
from .settings import PoolSettings
from .stacks import call_site
from .task import Task, failure
from .worker import Worker

T = TypeVar("T")


class Parked(Wait):
    """A wait with a thread in it. It is rung once to help and once at its end."""

    __slots__ = ("bell",)

    def __init__(
        self,
        worker: Worker,
        awaited: Entry | None,
        settings: PoolSettings,
        timeout: float | None,
    ) -> None:
        level, waiter, now = len(worker.stack), worker.stack[-1], time.monotonic()
        super().__init__(
            waiter,
            awaited,
            keeps=waiter.transactions > 0,
            can_help=level <= settings.help_limit and not waiter.critical,
            bottom=level == 1,
            since=now,
            until=None if timeout is None else now + max(0.0, timeout),
        )
        self.bell = Lock()
        self.bell.acquire()

    def ring(self) -> None:
        """Wake the thread."""
        self.bell.release()


class Blocking:
    """The ways to wait of one pool's workers."""

    def __init__(
        self, crew: Crew, settings: PoolSettings, reactor: IReactorFromThreads, log: Logger
    ) -> None:
        self._crew = crew
        self._settings = settings
        self._reactor = reactor
        self._log = log

    def on_task(self, awaited: Task[T], timeout: float | None) -> T:
        """See `AdaptivePool.block_on`."""
        worker = self._worker()
        if not awaited.belongs_to(self._crew):
            raise RuntimeError(f"{awaited.name} is a task of another pool")
        if not awaited.settled:
            wait = Parked(worker, awaited, self._settings, timeout)
            if self._begin(wait):
                self._sit(worker, wait, timeout)
        return awaited.outcome()

    def on_reactor(self, ask: Callable[[], Any], timeout: float | None) -> Any:
        """See `AdaptivePool.block_on_reactor`."""
        worker = self._worker()
        wait = Parked(worker, None, self._settings, timeout)
        question = _Question(self._crew, wait, ask)
        self._begin(wait)
        self._reactor.callFromThread(copy_context().run, question.ask)
        try:
            self._sit(worker, wait, timeout)
        except BaseException:
            self._reactor.callFromThread(question.drop)
            raise
        if isinstance(question.answer, Failure):
            question.answer.raiseException()
        return question.answer

    def _worker(self) -> Worker:
        worker = self._crew.worker_here()
        if worker is None or not worker.stack:
            raise RuntimeError("only a task of this pool, in its own thread, may wait here")
        if worker.stack[-1].transactions:
            self._in_transaction(worker.stack[-1])
        return worker

    def _in_transaction(self, task: Task[Any]) -> None:
        site = call_site()
        if self._settings.strict:
            raise BlockedInTransaction(f"{task.name} waits inside of a transaction at {site}")
        with self._crew.lock:
            fresh = self._crew.books.tally.waits_in_transaction(site)
        if fresh:
            self._log.warn(
                "{task} waits inside of an open transaction at {site}", task=task.name, site=site
            )

    def _begin(self, wait: Parked) -> bool:
        """Book the wait; False if what it waits for has just come."""
        crew = self._crew
        with crew.lock:
            if wait.awaited is not None and wait.awaited.settled:
                return False
            if crew.abandoned:
                raise PoolStopped("the pool has been stopped")
            crew.decisions.block(wait)
            orders = crew.orders()
        crew.carry_out(orders)
        return True

    def _sit(self, worker: Worker, wait: Parked, timeout: float | None) -> None:
        """Park until it is over, running the awaited task when told to."""
        until = wait.until
        while True:
            left = -1.0 if until is None else max(0.0, until - time.monotonic())
            if not wait.bell.acquire(timeout=left):
                until = None  # its place must be regained before it may go on
                self._break(wait, TimeoutError(f"waited {timeout} s"))
                continue
            helping = wait.helping
            if helping is None:
                break
            assert isinstance(helping, Task)
            self._crew.finish(helping, worker.perform(helping))
        if wait.error is not None:
            raise wait.error

    def _break(self, wait: Wait, error: Exception) -> None:
        with self._crew.lock:
            self._crew.books.break_wait(wait, error)
            self._crew.decisions.settle()
            orders = self._crew.orders()
        self._crew.carry_out(orders)


class _Question:
    """What a worker asks of the reactor thread, and the answer."""

    def __init__(self, crew: Crew, wait: Wait, ask: Callable[[], Any]) -> None:
        self.answer: Any = None
        self._crew = crew
        self._wait = wait
        self._ask = ask
        self._promise: Deferred[Any] | None = None

    def ask(self) -> None:
        """On the reactor thread, in a context of the worker's."""
        CAUSE.set(self._wait)
        try:
            result = self._ask()
        except BaseException:  # noqa: BLE001 - it is raised again in the thread that asked
            result = failure()
        if iscoroutine(result):
            result = Deferred.fromCoroutine(result)
        if isinstance(result, Deferred):
            self._promise = result
            result.addBoth(self._answered)
        else:
            self._answered(result)

    def drop(self) -> None:
        """On the reactor thread: the one who asked has gone."""
        if self._promise is not None:
            self._promise.cancel()

    def _answered(self, answer: Any) -> None:
        self.answer = answer
        with self._crew.lock:
            self._crew.books.settle_wait(self._wait)
            self._crew.decisions.settle()
            orders = self._crew.orders()
        self._crew.carry_out(orders)
