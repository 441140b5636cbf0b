"""The pool with real threads: outcomes, contexts, cancelling, stopping."""

import threading
from contextvars import ContextVar
from typing import Any, cast

import pytest
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.python.failure import Failure

from threadpool import AdaptivePool, PoolSettings, PoolStopped

from .pump import PATIENCE, Lines, Pump, running

WHO: ContextVar[str] = ContextVar("who", default="nobody")


class Gates:
    """A task that stays until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.go = threading.Event()

    def stay(self) -> str:
        """Run until let go."""
        self.entered.set()
        assert self.go.wait(PATIENCE)
        return "stayed"


def test_a_result_comes_to_the_reactor_thread() -> None:
    """`defer` runs the function elsewhere and fires here."""
    with running() as (pool, reactor):
        here = threading.get_ident()
        threads: list[int] = []
        deferred = pool.defer("io", threading.get_ident)
        deferred.addCallback(lambda there: threads.extend((there, threading.get_ident())))
        reactor.until(deferred)
        assert threads[0] != here
        assert threads[1] == here


def test_arguments_are_handed_on() -> None:
    """Also those by name."""
    with running() as (pool, reactor):
        assert reactor.until(pool.defer("io", int, "ff", base=16)) == 255
        assert reactor.until(pool.submit("db", int, "ff", base=16).deferred) == 255


@pytest.mark.parametrize("error", [KeyError, SystemExit, KeyboardInterrupt, GeneratorExit])
def test_whatever_a_task_raises_is_its_failure(error: type[BaseException]) -> None:
    """The thread survives it."""

    def fail() -> None:
        raise error("x")

    with running(base=1, ceiling=1) as (pool, reactor):
        with pytest.raises(error):
            reactor.until(pool.defer("io", fail))
        assert reactor.until(pool.defer("io", lambda: 1)) == 1
        assert pool.gauges().failed == 1


def test_an_unknown_kind_is_refused() -> None:
    """A misspelt kind must not make a quota of its own."""
    with running() as (pool, _), pytest.raises(ValueError, match="no such kind"):
        pool.submit("dbb", int)


def test_callbacks_run_in_the_submitters_context() -> None:
    """Twisted alone loses it."""
    with running() as (pool, reactor):
        token = WHO.set("submitter")
        seen: list[str] = []
        deferred = pool.defer("io", WHO.get)
        deferred.addCallback(lambda there: seen.extend((there, WHO.get())))
        WHO.reset(token)
        reactor.until(deferred)
        assert seen == ["submitter", "submitter"]


def test_what_a_task_changes_in_its_context_stays_there() -> None:
    """Neither the submitter nor the callbacks see it."""
    with running() as (pool, reactor):
        deferred = pool.defer("io", WHO.set, "task")
        assert reactor.until(deferred.addCallback(lambda _: WHO.get())) == "nobody"


def test_a_task_submitted_by_a_task_is_its_child() -> None:
    """And so is one that the reactor submits on its behalf, through coroutines too."""
    with running() as (pool, reactor):

        async def ask() -> Any:
            await pool.defer("io", int)
            child = pool.submit("io", int)
            await child.deferred
            return child

        def parent() -> Any:
            mine = pool.submit("io", int)
            pool.block_on(mine)
            return mine.depth, pool.block_on_reactor(ask).depth

        assert reactor.until(pool.defer("io", parent)) == (1, 1)
        assert pool.submit("io", int).depth == 0


def test_a_queued_task_can_be_cancelled() -> None:
    """It never runs, and its Deferred says so."""
    gates = Gates()
    ran: list[int] = []
    with running(base=1, ceiling=1) as (pool, reactor):
        busy = pool.defer("io", gates.stay)
        assert gates.entered.wait(PATIENCE)
        task = pool.submit("io", ran.append, 1)
        deferred = task.deferred
        assert task.cancel()
        assert not task.cancel()
        with pytest.raises(CancelledError):
            reactor.until(deferred)
        gates.go.set()
        reactor.until(busy)
    assert ran == []


def test_cancelling_a_running_task_detaches_it() -> None:
    """Its Deferred fires at once; its place stays taken until it has really ended."""
    gates = Gates()
    with running(base=1, ceiling=1) as (pool, reactor):
        deferred = pool.defer("db", gates.stay)
        assert gates.entered.wait(PATIENCE)
        deferred.cancel()
        with pytest.raises(CancelledError):
            reactor.until(deferred)
        assert pool.gauges().leases_out == 1
        gates.go.set()
        assert reactor.until(pool.defer("db", lambda: 1)) == 1


def test_the_deferred_of_an_ended_task_fires() -> None:
    """Whoever asks late is still told, once."""
    with running() as (pool, reactor):
        task = pool.submit("io", lambda: 7)
        reactor.until(pool.submit("io", pool.block_on, task).deferred)
        assert task.deferred is task.deferred
        assert reactor.until(task.deferred) == 7


def test_stop_fails_what_is_queued_and_waits_for_what_runs() -> None:
    """At once, not when a thread comes to it."""
    gates = Gates()
    reactor = Pump()
    pool = AdaptivePool(PoolSettings(base=1, ceiling=1), reactor)
    pool.start()
    runs = pool.defer("io", gates.stay)
    assert gates.entered.wait(PATIENCE)
    queued = pool.defer("io", int)
    stopped = pool.stop()
    with pytest.raises(PoolStopped):
        reactor.until(queued)
    assert not stopped.called
    gates.go.set()
    assert reactor.until(runs) == "stayed"
    reactor.until(stopped)
    assert pool.gauges().threads == 0


def test_stop_does_not_hang_on_a_task_that_never_ends() -> None:
    """At the deadline its Deferred fails and the stop is done."""
    gates = Gates()
    reactor = Pump()
    pool = AdaptivePool(PoolSettings(), reactor)
    pool.start()
    runs = pool.defer("io", gates.stay)
    assert gates.entered.wait(PATIENCE)
    stopped = pool.stop(deadline=10.0)
    reactor.advance(10.0)
    with pytest.raises(PoolStopped):
        reactor.until(runs)
    reactor.until(stopped)
    gates.go.set()


def test_stop_ends_a_wait_for_the_reactor_at_the_deadline() -> None:
    """Also if the answer never comes."""
    reactor = Pump()
    pool = AdaptivePool(PoolSettings(), reactor)
    pool.start()
    asked: Deferred[None] = Deferred()
    never: Deferred[None] = Deferred()

    def ask() -> Deferred[None]:
        asked.callback(None)
        return never

    waits = pool.defer("io", pool.block_on_reactor, ask)
    reactor.until(asked)
    stopped = pool.stop(deadline=1.0)
    reactor.advance(1.0)
    with pytest.raises(PoolStopped):
        reactor.until(waits)
    reactor.until(stopped)


def test_after_stop_a_task_has_already_failed() -> None:
    """Twisted drops it without a word."""
    reactor = Pump()
    pool = AdaptivePool(PoolSettings(), reactor)
    pool.start()
    reactor.until(pool.stop())
    with pytest.raises(PoolStopped):
        reactor.until(pool.submit("io", int).deferred)
    reactor.until(pool.stop())
    with pytest.raises(PoolStopped):
        pool.start()


def test_work_handed_in_before_the_start_runs_after_it() -> None:
    """As with twisted's pool."""
    reactor = Pump()
    pool = AdaptivePool(PoolSettings(), reactor)
    early = pool.defer("io", lambda: 1)
    assert pool.gauges().threads == 0
    pool.start()
    assert reactor.until(early) == 1
    reactor.until(pool.stop())


def test_a_failure_nobody_asked_for_is_logged() -> None:
    """By callInThread, as with twisted's pool."""
    lines = Lines()
    with running(lines) as (pool, reactor):
        pool.callInThread(int, "x")
        reactor.until(pool.defer("io", int))
    assert len(lines.starting("A function called in a thread failed")) == 1


def test_it_stands_in_for_twisteds_pool() -> None:
    """`onResult` gets success and outcome in the worker's thread, also when the pool has stopped."""
    got: list[tuple[bool, Any]] = []
    with running() as (pool, reactor):
        done: Deferred[None] = Deferred()

        def on_result(success: bool, result: Any) -> None:
            got.append((success, result))
            reactor.callFromThread(done.callback, None)

        pool.adjustPoolsize(1, 2)
        pool.callInThreadWithCallback(on_result, int, "7")
        reactor.until(done)
    pool.callInThreadWithCallback(lambda success, result: got.append((success, result)), int)
    assert got[0] == (True, 7)
    assert got[1][0] is False
    assert isinstance(got[1][1], Failure)


def test_threads_over_the_base_leave_when_quiet() -> None:
    """The pool is as small afterwards as before."""
    left = threading.Event()
    with running(base=1, ceiling=9, quiet=0.01) as (pool, reactor):

        def root() -> int:
            return pool.block_on(pool.submit("io", lambda: 1))

        reactor.until(gatherResults([pool.defer("io", root) for _ in range(8)]))
        assert pool.gauges().grown > 0
        for _ in range(500):
            if pool.gauges().threads == 1:
                break
            left.wait(0.01)
        assert pool.gauges().threads == 1


def test_a_refused_thread_loses_no_task() -> None:
    """EAGAIN at the start of a thread: the task waits, is run later, and it is logged."""
    from threadpool import crew
    from threadpool.delivery import Delivery

    refusals = [RuntimeError("can't start new thread")]

    def start_thread(run: Any) -> None:
        if refusals:
            raise refusals.pop()
        crew.daemon_thread(run)

    lines, reactor = Lines(), Pump()
    pool = AdaptivePool(PoolSettings(base=1, ceiling=2, tick=0.01), reactor, log=lines.log)
    pool._crew = crew.Crew(
        pool.settings, Delivery(cast(Any, reactor)), lines.log, start_thread=start_thread
    )
    pool._stopping._crew = pool._crew
    pool.start()
    assert reactor.until(pool.defer("io", lambda: 1)) == 1
    assert len(lines.starting("The system refuses a thread")) == 1
    reactor.until(pool.stop())
