"""Who runs against whom: three ways to run a plain function in a thread and have a Deferred."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool
from twisted.python.failure import Failure
from twisted.python.threadpool import ThreadPool

from threadpool import AdaptivePool, PoolSettings

THREADS = 10

Defer = Callable[..., "Deferred[Any]"]
"""Hand in a function and its arguments; fires on the reactor thread with the result."""


class Contestants:
    """The three, started. All have ten threads; ours has all its features on."""

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._twisted = ThreadPool(THREADS, THREADS, name="twisted")
        self._executor = ThreadPoolExecutor(THREADS)
        self._ours = AdaptivePool(PoolSettings(base=THREADS, ceiling=4 * THREADS), reactor)
        self.ways: dict[str, Defer] = {
            "twisted": self._in_twisted,
            "executor": self._in_executor,
            "ours": self._in_ours,
        }

    def start(self) -> None:
        """Start what has to be started."""
        self._twisted.start()
        self._ours.start()

    async def stop(self) -> None:
        """Join all threads."""
        self._twisted.stop()
        self._executor.shutdown()
        await self._ours.stop()

    def _in_twisted(self, f: Callable[..., Any], *args: Any) -> "Deferred[Any]":
        return deferToThreadPool(self._reactor, self._twisted, f, *args)

    def _in_executor(self, f: Callable[..., Any], *args: Any) -> "Deferred[Any]":
        done: Deferred[Any] = Deferred()

        def ended(future: Future[Any]) -> None:
            error = future.exception()
            outcome = Failure(error) if error is not None else future.result()
            self._reactor.callFromThread(done.callback, outcome)

        self._executor.submit(f, *args).add_done_callback(ended)
        return done

    def _in_ours(self, f: Callable[..., Any], *args: Any) -> "Deferred[Any]":
        return self._ours.defer("io", f, *args)
