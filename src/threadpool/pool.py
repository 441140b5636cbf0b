"""The adaptive pool: what a daemon holds in its hand."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from secrets import token_hex
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from . import causes
from .blocking import Blocking
from .crew import Crew
from .delivery import Delivery
from .entry import ROOT, Origin, Phase, Wait, living
from .gauging import gauges
from .install import install
from .picture import dot, dump
from .settings import DB, PoolSettings
from .stopping import Stopping
from .tally import PoolGauges
from .task import Task

T = TypeVar("T")

_LOG = Logger(namespace="threadpool")
_DNS = PoolSettings(base=4, ceiling=4, quotas={"io": 4})


class AdaptivePool:
    """Runs plain functions in threads, and does not starve when they wait for each other.

    See `PoolSettings` for its bounds. Kinds of task are the names in `settings.quotas`.
    `reactor` provides IReactorFromThreads and IReactorTime.
    """

    def __init__(self, settings: PoolSettings, reactor: Any, *, log: Logger = _LOG) -> None:
        self.settings = settings
        self._reactor = reactor
        self._name = token_hex(4)
        self._kinds = frozenset(settings.quotas)
        self._ids = itertools.count(1)
        self._crew = Crew(settings, Delivery(reactor), log)
        self._blocking = Blocking(self._crew, settings, reactor, log)
        self._stopping = Stopping(self._crew, reactor)
        self._bare_kind = "io" if "io" in settings.quotas else next(iter(settings.quotas))
        self._log = log
        self._dns: AdaptivePool | None = None
        self._put_back: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to run what is, or will be, queued. Raises PoolStopped after a stop."""
        self._crew.open()

    def stop(self, deadline: float = 10.0) -> "Deferred[None]":
        """Fires when all threads have left, at the latest after `deadline` seconds. Never fails.

        Queued work fails with PoolStopped at once; so does, at the deadline, what still runs. On
        the reactor thread, which must go on running until it fires.
        """
        if self._put_back is not None:
            self._put_back()
            self._put_back = None
        done = self._stopping.begin(deadline)
        if self._dns is not None:
            dns, self._dns = self._dns, None
            done.addCallback(lambda _: dns.stop(deadline=0.0))
        return done

    def install(self) -> None:
        """Become the thread pool that `reactor.getThreadPool()` returns, until `stop`.

        Names are then resolved in a small pool of their own, so that neither delays the other.
        """
        if self._put_back is not None:
            return
        self._dns = AdaptivePool(_DNS, self._reactor, log=self._log)
        self._dns.start()
        self._put_back = install(self._reactor, self, self._dns)

    # -- handing in

    def submit(
        self,
        kind: str,
        f: Callable[..., T],
        *args: Any,
        key: str = "",
        height: int = 0,
        limit: float | None = None,
        again: Task[Any] | None = None,
        **kwargs: Any,
    ) -> Task[T]:
        """Queue `f(*args, **kwargs)`, from any thread.

        Among tasks of equal depth the `key`s (a chassis, a tenant) take turns, and within a key the
        oldest is first; a child inherits its parent's key and age, and what is tried `again` keeps
        the age of the task that it repeats. `height` is how many levels of tasks it will wait for,
        if that is known; `limit` the longest that it may run, in seconds: who can wait less than
        that does not run it in its own thread.
        After `stop` the task has already failed with PoolStopped. ValueError if there is no such
        kind, or if the ceiling is too low for the height.
        """
        age = None if again is None else again.age
        task = self._task(kind, (f, args, kwargs), key, height, age, limit)
        self._crew.admit(task)
        return task

    def defer(self, kind: str, f: Callable[..., T], *args: Any, **kwargs: Any) -> "Deferred[T]":
        """Queue likewise and return the Deferred; on the reactor thread.

        It fires on the reactor thread in the contextvars context of this call.
        """
        task = self._task(kind, (f, args, kwargs))
        promise = task.promise()
        self._crew.admit(task)
        return promise

    def callInThread(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """As twisted's ThreadPool: run it, log a failure."""
        self.callInThreadWithCallback(None, f, *args, **kwargs)

    def callInThreadWithCallback(
        self,
        onResult: Callable[[bool, Any], object] | None,
        f: Callable[..., Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """As twisted's ThreadPool: `onResult(success, result or Failure)` in the worker's thread.

        Unlike twisted's, it is also called when the pool stops before `f` ran.
        """
        task = self._task(self._bare_kind, (f, args, kwargs))
        task.listen(onResult or self._log_failure)
        self._crew.admit(task)

    def adjustPoolsize(self, minthreads: int | None = None, maxthreads: int | None = None) -> None:
        """As twisted's ThreadPool, but without effect: the settings bound this pool."""

    def _log_failure(self, success: bool, result: Any) -> None:
        if not success:
            self._log.failure("A function called in a thread failed", failure=result)

    def _task(
        self,
        kind: str,
        call: tuple[Callable[..., T], tuple[Any, ...], dict[str, Any]],
        key: str = "",
        height: int = 0,
        age: int | None = None,
        limit: float | None = None,
    ) -> Task[T]:
        if kind not in self._kinds:
            raise ValueError(f"no such kind of task: {kind!r}")
        if height and not 0 < height < self.settings.ceiling:
            raise ValueError(
                f"height {height} needs a ceiling of {height + 1} threads at least, "
                f"and it is {self.settings.ceiling}"
            )
        cause = causes.CAUSE.get()
        origin = ROOT if cause is None else self._origin(cause)
        return Task(self._crew, next(self._ids), kind, call, key, height, origin, age, limit)

    # -- waiting, from a task

    def block_on(self, awaited: Task[T], timeout: float | None = None) -> T:
        """Wait, inside of a task of this pool, for another; return its result or raise its error.

        The task's place and lease are given back meanwhile, and regained ahead of all queued work.
        The thread may run the awaited task itself; `timeout` (seconds) does not cut that short.
        Raises TimeoutError, StarvationError when it could never end, PoolStopped, and
        BlockedInTransaction in a strict pool; RuntimeError in a thread that is not this pool's.
        """
        return self._blocking.on_task(awaited, timeout)

    def block_on_reactor(
        self, f: Callable[..., Any], *args: Any, timeout: float | None = None, **kwargs: Any
    ) -> Any:
        """Call `f` on the reactor thread and wait, likewise, for what it returns.

        A Deferred or coroutine is waited for; at the timeout it is cancelled. What `f` submits is a
        child of this task, and this thread may run it while it waits.
        """
        return self._blocking.on_reactor(lambda: f(*args, **kwargs), timeout)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Mark the running task as inside of an open transaction, which must not wait.

        Only in a task of kind "db" that holds its lease; RuntimeError elsewhere.
        """
        worker = self._crew.worker_here()
        task = worker.stack[-1] if worker is not None and worker.stack else None
        if task is None or task.kind != DB or not task.held:
            raise RuntimeError(f"only a task of kind {DB!r} that holds its lease has transactions")
        task.transactions += 1
        try:
            yield
        finally:
            task.transactions -= 1

    @contextmanager
    def critical(self) -> Iterator[None]:
        """Mark the running task as inside of a critical section: it holds a lock, say.

        Its thread runs nothing else while it waits there, for that might want the same lock.
        RuntimeError in a thread that does not run a task of this pool.
        """
        worker = self._crew.worker_here()
        if worker is None or not worker.stack:
            raise RuntimeError("only a task of this pool has critical sections")
        task = worker.stack[-1]
        task.critical += 1
        try:
            yield
        finally:
            task.critical -= 1

    # -- causes

    def cause(self) -> str:
        """The causal token of this context for an RPC's envelope; empty when nothing caused it."""
        return causes.token(self._name)

    def caused_by(self, token: str) -> AbstractContextManager[None]:
        """What is submitted inside was caused by what the token names, here or elsewhere."""
        return causes.caused_by(token[: causes.LONGEST])

    def _origin(self, cause: causes.Cause) -> Origin:
        """Where a task comes from that is submitted in a context with this cause."""
        match cause:
            case Wait():
                return self._from_wait(cause)
            case Task():
                parent = living(cause) if cause.belongs_to(self._crew) else None
                return parent, None, cause.token
            case str():
                return self._from_token(cause)
            case _:
                return ROOT

    def _from_wait(self, wait: Wait) -> Origin:
        waiter = wait.waiter
        if not isinstance(waiter, Task) or not waiter.belongs_to(self._crew):
            return None, None, waiter.token
        return living(waiter), wait if wait.phase is not Phase.OVER else None, waiter.token

    def _from_token(self, token: str) -> Origin:
        running = self._crew.books.running
        for step in causes.own_steps(self._name, token):
            parent = running.get(step)
            if parent is not None:
                wait = parent.wait
                return parent, wait if wait is not None and wait.awaited is None else None, token
        return None, None, token

    # -- looking

    def gauges(self) -> PoolGauges:
        """The pool at this moment; from any thread."""
        with self._crew.lock:
            return gauges(self._crew.books)

    def dump(self) -> str:
        """What runs, waits and is queued, a line each, with the stacks; from any thread."""
        with self._crew.lock:
            return dump(self._crew.books, self._crew.stacks())

    def dot(self) -> str:
        """The graph of who waits for whom, for Graphviz' dot; from any thread."""
        with self._crew.lock:
            return dot(self._crew.books)
