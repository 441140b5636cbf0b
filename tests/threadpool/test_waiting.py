"""Tasks that wait, with real threads: the story, transactions, time limits, rings."""

import threading
from typing import Any

import pytest
from twisted.internet.defer import Deferred, gatherResults

from threadpool import AdaptivePool, BlockedInTransaction, StarvationError, Task

from .pump import PATIENCE, Lines, running


@pytest.mark.parametrize(("base", "ceiling"), [(1, 1), (10, 10), (10, 40)])
def test_sixty_four_roots_that_each_wait_for_a_child_all_finish(base: int, ceiling: int) -> None:
    """The story that stopped a region: it ends at any size, within the threads and the leases."""
    lines = Lines()
    with running(lines, base=base, ceiling=ceiling) as (pool, reactor):

        def root(number: int) -> int:
            return pool.block_on(pool.submit("db", lambda: number))

        done = gatherResults([pool.defer("db", root, n) for n in range(64)])
        assert reactor.until(done) == list(range(64))
        gauges = pool.gauges()
        assert gauges.peak_threads <= ceiling
        assert gauges.peak_leases <= 10
        assert len(lines.starting("Thread pool starves")) == gauges.starvation_episodes <= 1


@pytest.mark.parametrize("ceiling", [1, 3, 20])
def test_the_same_through_the_reactor(ceiling: int) -> None:
    """Each root asks the reactor, whose answer needs the pool."""
    with running(base=1, ceiling=ceiling) as (pool, reactor):

        async def ask(number: int) -> int:
            return await pool.defer("db", lambda: number)

        def root(number: int) -> Any:
            return pool.block_on_reactor(ask, number)

        done = gatherResults([pool.defer("db", root, n) for n in range(32)])
        assert reactor.until(done) == list(range(32))


def test_a_continuation_with_a_cause_token_is_helped() -> None:
    """A rack calls back while the only thread waits for that rack; the token tells who waits."""
    with running(base=1, ceiling=1) as (pool, reactor):
        calls: list[tuple[str, Deferred[Any]]] = []
        sent: Deferred[None] = Deferred()

        def send() -> Deferred[Any]:
            answer: Deferred[Any] = Deferred()
            calls.append((pool.cause(), answer))
            sent.callback(None)
            return answer

        done = pool.defer("io", pool.block_on_reactor, send)
        reactor.until(sent)
        token, answer = calls[0]
        with pool.caused_by(token):
            pool.defer("db", lambda: 5).addCallback(answer.callback)
        assert reactor.until(done) == 5
        assert pool.gauges().helped == 1


def test_a_task_that_waits_for_itself_is_told_so() -> None:
    """The shortest ring there is."""
    with running(base=2, ceiling=2) as (pool, reactor):
        box: list[Task[Any]] = []
        ready = threading.Event()

        def wait_for_myself() -> Any:
            assert ready.wait(PATIENCE)
            return pool.block_on(box[0])

        box.append(pool.submit("io", wait_for_myself))
        ready.set()
        with pytest.raises(StarvationError, match=r"wait_for_myself\) waits for task"):
            reactor.until(box[0].deferred)


def test_the_error_of_what_was_awaited_is_raised() -> None:
    """As if it had been called."""
    with running(base=1, ceiling=1) as (pool, reactor):
        with pytest.raises(ValueError, match="invalid literal"):
            reactor.until(pool.defer("io", lambda: pool.block_on(pool.submit("io", int, "x"))))

        def ask() -> None:
            raise KeyError("reactor")

        with pytest.raises(KeyError):
            reactor.until(pool.defer("io", pool.block_on_reactor, ask))


def test_waiting_too_long_is_a_time_out() -> None:
    """What was asked of the reactor is cancelled."""
    with running() as (pool, reactor):
        cancelled: Deferred[None] = Deferred()
        never: Deferred[None] = Deferred(lambda _: cancelled.callback(None))

        def root() -> Any:
            return pool.block_on_reactor(lambda: never, timeout=0.01)

        with pytest.raises(TimeoutError):
            reactor.until(pool.defer("io", root))
        reactor.until(cancelled)


def test_a_time_out_of_a_wait_for_a_task_leaves_the_task_alone() -> None:
    """It still runs, and its result is still there."""
    go = threading.Event()
    with running() as (pool, reactor):
        slow = pool.submit("io", go.wait, PATIENCE)
        with pytest.raises(TimeoutError):
            reactor.until(pool.defer("db", pool.block_on, slow, timeout=0.01))
        go.set()
        assert reactor.until(slow.deferred) is True


def test_only_a_task_of_the_pool_may_wait() -> None:
    """The reactor thread least of all."""
    with running() as (pool, reactor):
        task = pool.submit("io", int)
        with pytest.raises(RuntimeError):
            pool.block_on(task)
        reactor.until(task.deferred)


def test_a_task_of_another_pool_is_not_waited_for() -> None:
    """Its books are not ours: a wait over two pools could not be told from a ring."""
    with running() as (pool, reactor), running() as (other, theirs):
        task = other.submit("io", int)
        with pytest.raises(RuntimeError, match="another pool"):
            reactor.until(pool.defer("io", pool.block_on, task))
        theirs.until(task.deferred)


def _wait_inside(pool: AdaptivePool) -> Any:
    with pool.transaction():
        return pool.block_on(pool.submit("io", lambda: 3))


def test_waiting_inside_of_a_transaction_is_an_error_in_a_strict_pool() -> None:
    """As in every test of a daemon."""
    with (
        running(strict=True) as (pool, reactor),
        pytest.raises(BlockedInTransaction, match=r"test_waiting\.py"),
    ):
        reactor.until(pool.defer("db", _wait_inside, pool))


def test_it_is_counted_and_logged_once_per_call_site_otherwise() -> None:
    """Production goes on while it can."""
    lines = Lines()
    with running(lines) as (pool, reactor):
        for _ in range(3):
            assert reactor.until(pool.defer("db", _wait_inside, pool)) == 3
        assert pool.gauges().waits_in_transaction == 3
    assert len(lines.starting("{task} waits inside of an open transaction")) == 1


def test_a_transaction_that_starves_the_pool_fails() -> None:
    """Its waiting thread is the only one and must not help."""
    with running(base=1, ceiling=1) as (pool, reactor):
        with pytest.raises(StarvationError):
            reactor.until(pool.defer("db", _wait_inside, pool))
        assert reactor.until(pool.defer("db", lambda: 1)) == 1


def test_a_transaction_needs_a_lease() -> None:
    """Elsewhere there is no connection to have one on."""
    with running() as (pool, reactor):
        with pytest.raises(RuntimeError, match="lease"), pool.transaction():
            pass
        with pytest.raises(RuntimeError, match="lease"):
            reactor.until(pool.defer("io", _wait_inside, pool))


def test_the_gate_feeds_a_starving_queue() -> None:
    """All threads wait for work that is queued, and nothing says so: the ticks find it."""
    with running(base=1, ceiling=2, tick=0.01) as (pool, reactor):
        opened = threading.Event()
        hidden = pool.defer("io", opened.wait, PATIENCE)
        pool.defer("io", opened.set)
        assert reactor.until(hidden) is True
        assert pool.gauges().starvation_episodes == 1


def test_the_help_limit_ends_in_an_error_not_in_an_overflow() -> None:
    """Awaited tasks nested deeper than one thread may stack them, with no other thread."""
    with running(base=1, ceiling=1, help_limit=4) as (pool, reactor):

        def nest(depth: int) -> int:
            return 0 if not depth else 1 + pool.block_on(pool.submit("io", nest, depth - 1))

        assert reactor.until(pool.defer("io", nest, 4)) == 4
        with pytest.raises(StarvationError):
            reactor.until(pool.defer("io", nest, 5))
