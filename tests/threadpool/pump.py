"""A reactor thread in the hand of a test: the pool's calls run when the test pumps."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import Logger
from twisted.python.failure import Failure

from threadpool import AdaptivePool, PoolSettings

PATIENCE = 20.0
"""Seconds after which a test says that something hangs."""


class Pump(Clock):
    """`callFromThread` queues, `until` runs what was queued; `callLater` is a fake clock's."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: SimpleQueue[Callable[[], object]] = SimpleQueue()

    def callFromThread(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Queue a call, from any thread."""
        self._calls.put(lambda: f(*args, **kwargs))

    def until(self, deferred: "Deferred[Any]") -> Any:
        """Run what is queued until it fires; return its result or raise its error."""
        outcome: list[Any] = []
        deferred.addBoth(outcome.append)
        while not outcome:
            try:
                call = self._calls.get(timeout=PATIENCE)
            except Empty:
                raise AssertionError("it hangs") from None
            call()
        if isinstance(outcome[0], Failure):
            outcome[0].raiseException()
        return outcome[0]


class Lines:
    """A log observer that keeps what was logged."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.log = Logger(namespace="test", observer=self.events.append)  # type: ignore[arg-type]

    def starting(self, text: str) -> list[dict[str, Any]]:
        """The events whose format begins so."""
        return [event for event in self.events if str(event["log_format"]).startswith(text)]


@contextmanager
def running(lines: Lines | None = None, **settings: Any) -> Iterator[tuple[AdaptivePool, Pump]]:
    """A started pool and its pump; stopped, and all its threads gone, at the end."""
    reactor = Pump()
    pool = AdaptivePool(PoolSettings(**settings), reactor, log=(lines or Lines()).log)
    pool.start()
    try:
        yield pool, reactor
    finally:
        reactor.until(pool.stop())
        gauges = pool.gauges()
        assert (gauges.threads, gauges.busy, gauges.blocked, gauges.leases_out) == (0, 0, 0, 0)
        assert not any(gauges.queued.values())
