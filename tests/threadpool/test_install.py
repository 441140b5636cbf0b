"""The pool in the reactor's place of one."""

from typing import Any

from twisted.internet import reactor as global_reactor
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread  # noqa: TID251 - what a library would call
from twisted.trial.unittest import TestCase

from threadpool import AdaptivePool, PoolSettings

reactor: Any = global_reactor


class Installing(TestCase):
    """With the real reactor."""

    async def test_bare_calls_come_to_the_pool_and_names_do_not(self) -> None:
        """A library's `deferToThread` runs here; DNS has threads of its own; both are put back."""
        before, resolver = reactor.getThreadPool(), reactor.nameResolver
        pool = AdaptivePool(PoolSettings(), reactor)
        pool.start()
        pool.install()
        pool.install()
        try:
            self.assertIs(reactor.getThreadPool(), pool)
            self.assertEqual(await deferToThread(lambda: 4), 4)
            self.assertEqual(pool.gauges().finished, 1)
            self.assertEqual(await reactor.resolve("localhost"), "127.0.0.1")
            self.assertEqual(pool.gauges().finished, 1)
        finally:
            await pool.stop()
        self.assertIs(reactor.getThreadPool(), before)
        self.assertIs(reactor.nameResolver, resolver)

    async def test_the_real_reactor_delivers(self) -> None:
        """A burst comes back whole and in order of its keys' turns."""
        pool = AdaptivePool(PoolSettings(), reactor)
        pool.start()
        try:
            promises: list[Deferred[int]] = [pool.defer("io", int, n) for n in range(200)]
            self.assertEqual([await promise for promise in promises], list(range(200)))
        finally:
            await pool.stop()
