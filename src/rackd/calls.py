"""The reactor's side of a chassis' calls: one after the other in the pool, each aborted at its limit.

A call is over when its thread has returned, not when it was given up: until then nothing else is sent
to the chassis, however long that takes.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from attrs import define
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from drivers.interfaces import Fate
from rackd.conversation import Conversation
from rackd.queue import Accepted, Answered, Broke, StartCommand, StartRead
from switchgear.power import ErrorClass, Fault
from threadpool import PoolStopped

Outcome = Answered | Accepted | Broke

#: Seconds between two tries to abort a call that does not end.
ABORT_AGAIN = 5.0
#: Seconds that closing a session may take before it is aborted.
CLOSE_LIMIT = 5.0


class Handle(Protocol):
    """What is needed of a pool's task, see `threadpool.Task`."""

    @property
    def deferred(self) -> "Deferred[Any]":
        """Fires on the reactor's thread with the outcome."""
        ...


class Pool(Protocol):
    """What is needed of the thread pool, see `threadpool.AdaptivePool.submit`."""

    def submit(
        self,
        kind: str,
        f: Callable[..., Any],
        *args: Any,
        key: str = "",
        height: int = 0,
        **kwargs: Any,
    ) -> Handle:
        """Queue a function."""
        ...


@define(eq=False)
class _Job:
    """Something to do in a thread. `limit`: seconds from when the thread began with it."""

    work: Callable[[], Any]
    limit: float
    start_before: float
    done: Callable[[Any], None]
    began: float | None = None


class Calls:
    """The calls of one chassis. `ended(call, outcome)` is told of each, once, by the reactor."""

    _log = Logger()

    def __init__(
        self,
        *,
        chassis: str,
        clock: IReactorTime,
        pool: Pool,
        conversation: Conversation,
        ended: Callable[[int, Outcome], None],
    ) -> None:
        self._chassis = chassis
        self._clock = clock
        self._pool = pool
        self._conversation = conversation
        self._ended = ended
        self._jobs: deque[_Job] = deque()
        self._current: _Job | None = None
        self._watch: IDelayedCall | None = None
        self._late = False

    @property
    def idle(self) -> bool:
        """Whether no call runs and no session is open."""
        return self._current is None and not self._conversation.is_open

    def start(self, call: StartRead | StartCommand, until: float) -> None:
        """Make a call. If no thread comes free in time for it to end before `until`, it is not made."""
        conversation = self._conversation
        self._add(
            _Job(
                work=conversation.read
                if isinstance(call, StartRead)
                else lambda: conversation.command(call),
                limit=call.limit,
                start_before=until - call.limit,
                done=lambda outcome: self._ended(call.call, outcome),
            )
        )

    def close_session(self) -> None:
        """End the session, after the calls that were started before."""
        self._add(
            _Job(
                work=self._conversation.close,
                limit=CLOSE_LIMIT,
                start_before=float("inf"),
                done=lambda _: None,
            )
        )

    def give_up(self) -> None:
        """Abort what runs, ahead of its limit."""
        if self._current is not None:
            self._conversation.abort()

    def _add(self, job: _Job) -> None:
        self._jobs.append(job)
        if self._current is None:
            self._next()

    def _next(self) -> None:
        if not self._jobs:
            return
        job = self._current = self._jobs.popleft()
        task = self._pool.submit("io", self._in_thread, job, key=self._chassis)
        self._late = False
        self._watch = self._clock.callLater(job.limit, self._check, job)
        task.deferred.addBoth(self._over, job).addErrback(
            lambda failure: self._log.failure("a call's end went wrong", failure=failure)
        )

    def _in_thread(self, job: _Job) -> Any:
        began = self._clock.seconds()
        if began > job.start_before:
            text = "the rack had no thread free while its lease was long enough"
            return Broke(Fault(ErrorClass.BUSY, text), Fate.NOT_ACCEPTED)
        job.began = began
        return job.work()

    def _check(self, job: _Job) -> None:
        """Abort the call at its limit, which counts from when its thread began with it."""
        now = self._clock.seconds()
        left = job.limit if job.began is None else job.began + job.limit - now
        if left <= 0:
            left = ABORT_AGAIN
            self._warn_once(job)
            self._conversation.abort()
        self._watch = self._clock.callLater(left, self._check, job)

    def _warn_once(self, job: _Job) -> None:
        if not self._late:
            self._late = True
            self._log.warn(
                "a call to {chassis} is aborted after {limit} s; it keeps its place until it ended",
                chassis=self._chassis,
                limit=job.limit,
            )

    def _over(self, result: Any, job: _Job) -> None:
        if self._watch is not None and self._watch.active():
            self._watch.cancel()
        self._watch = self._current = None
        if not isinstance(result, Failure):
            job.done(result)
        elif not result.check(PoolStopped, CancelledError):
            self._log.failure("a call to {chassis} failed", failure=result, chassis=self._chassis)
            fault = Fault(ErrorClass.INTERNAL, f"the rack failed: {type(result.value).__name__}")
            job.done(Broke(fault, Fate.UNKNOWN))
        if self._current is None:
            self._next()
