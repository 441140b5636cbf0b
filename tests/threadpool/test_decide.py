"""The ladder, single-stepped: wake, grow, help, fail the youngest."""

from threadpool import StarvationError
from threadpool.entry import Phase, State
from threadpool.orders import Grow, Ring, Wake, Warn

from .bench import Bench, phase, shapes


def test_threads_are_made_up_to_the_base_only() -> None:
    """Work that merely queues does not grow the pool beyond its base."""
    bench = Bench(base=2, ceiling=9)
    for _ in range(5):
        bench.submit()
    assert shapes(bench.orders()) == ["grow"]
    assert bench.arrive() is not None
    assert shapes(bench.orders()) == ["grow"]
    assert bench.arrive() is not None
    assert shapes(bench.orders()) == []
    assert bench.books.tally.grown == {}


def test_the_worker_parked_last_is_woken_first() -> None:
    """Its caches are warm, and the others can leave."""
    bench = Bench(base=2, ceiling=2)
    bench.submit()
    bench.submit()
    bench.finish(bench.arrive())  # type: ignore[arg-type]
    bench.finish(bench.arrive())  # type: ignore[arg-type]
    bench.take("first")
    bench.take("last")
    bench.orders()
    bench.submit()
    assert bench.orders() == [Wake("last")]


def test_no_second_wake_while_one_is_on_its_way() -> None:
    """A thread that searches is enough for one task."""
    bench = Bench(base=1, ceiling=1)
    bench.submit()
    bench.submit()
    assert shapes(bench.orders()) == ["grow"]


def test_a_wait_for_a_queued_task_grows_the_pool() -> None:
    """A thread that waits does not count as one of the base."""
    bench = Bench(base=1, ceiling=2)
    parent = bench.run()
    child = bench.submit(parent=parent)
    bench.submit()
    bench.orders()
    bench.block(parent, child)
    assert bench.orders() == [Grow()]
    assert bench.arrive() is child


def test_at_the_ceiling_the_waiter_helps() -> None:
    """It runs exactly the task it waits for, and goes on when that has ended."""
    bench = Bench(base=1, ceiling=1)
    parent = bench.run()
    other = bench.submit()
    child = bench.submit(parent=parent)
    bench.orders()
    wait = bench.block(parent, child)
    assert wait.helping is child
    assert other.state is State.QUEUED
    assert [order for order in bench.orders() if isinstance(order, Ring)] == [Ring(wait)]
    bench.finish(child)
    assert phase(wait) is Phase.OVER
    assert bench.orders() == [Ring(wait)]
    assert bench.books.blocked == 0


def test_a_waiter_that_parked_with_hope_helps_when_hope_ends() -> None:
    """The free thread it counted on took something else."""
    bench = Bench(base=2, ceiling=2)
    one, two = bench.run(), bench.run()
    first, second = bench.submit(parent=one), bench.submit(parent=two)
    bench.finish(two)
    assert bench.take() is first
    wait = bench.block(one, second)
    assert wait.helping is second


def test_a_lease_is_given_back_while_waiting_and_regained_before_roots() -> None:
    """With one lease a parent and its child both get it in turn, and a root gets it last."""
    bench = Bench(base=3, ceiling=3, leases=1)
    parent = bench.run("db")
    child = bench.submit("db", parent)
    root = bench.submit("db")
    wait = bench.block(parent, child)
    assert bench.books.leases_out() == 0
    assert bench.arrive() is child
    assert bench.books.leases_out() == 1
    bench.finish(child)
    assert bench.books.leases_out() == 1
    assert phase(wait) is Phase.OVER
    assert root.state is State.QUEUED


def test_a_wait_that_ends_without_a_free_lease_regains_the_next_one() -> None:
    """It does not go on without a lease."""
    bench = Bench(base=3, ceiling=3, leases=1)
    parent = bench.run("db")
    child = bench.run("io", parent)
    wait = bench.block(parent, child)
    root = bench.run("db")
    waiting = bench.submit("db")
    bench.finish(child)
    assert phase(wait) is Phase.REGAINING
    bench.finish(root)
    assert phase(wait) is Phase.OVER
    assert waiting.state is State.QUEUED


def test_a_quota_bounds_what_runs_of_a_kind() -> None:
    """Others go on."""
    bench = Bench(base=4, ceiling=4, quotas={"db": 9, "io": 1})
    bench.run("io")
    second = bench.submit("io")
    bench.run("db")
    assert second.state is State.QUEUED


def test_equal_kinds_take_turns() -> None:
    """A flood of one kind does not hold up another's roots."""
    bench = Bench(base=1, ceiling=1)
    running = bench.run()
    flood = [bench.submit("io") for _ in range(3)]
    single = bench.submit("db")
    bench.finish(running)
    assert {bench.take(), bench.take()} == {flood[0], single}


def test_inside_a_transaction_nobody_helps_and_the_youngest_fails() -> None:
    """The row locks it holds may be what the child wants; at the ceiling there is no other way."""
    bench = Bench(base=1, ceiling=1)
    parent = bench.run("db")
    child = bench.submit("db", parent)
    wait = bench.block(parent, child, keeps=True)
    assert isinstance(wait.error, StarvationError)
    assert "task 1 waits inside of a transaction for task 2 (queued)" in str(wait.error)
    assert phase(wait) is Phase.OVER


def test_a_ring_of_waits_fails_its_youngest_at_once() -> None:
    """Two tasks that wait for each other; the older one goes on."""
    bench = Bench(base=3, ceiling=9)
    old, young = bench.run(), bench.run()
    first = bench.block(old, young)
    second = bench.block(young, old)
    assert first.error is None
    assert isinstance(second.error, StarvationError)
    assert "task 1 waits for task 2" in str(second.error)
    assert "task 2 waits for task 1" in str(second.error)


def test_a_wait_for_a_running_task_is_no_starvation() -> None:
    """However long it takes."""
    bench = Bench(base=1, ceiling=2)
    parent = bench.run()
    child = bench.submit(parent=parent)
    wait = bench.block(parent, child)
    bench.arrive()
    bench.now = 3600.0
    bench.decisions.tick()
    assert wait.error is None


def test_one_warning_for_one_episode() -> None:
    """Sixty-four waits at the ceiling are one episode, told once, with who waits for what."""
    bench = Bench(base=1, ceiling=1)
    told = []
    parents = [bench.submit() for _ in range(64)]
    bench.arrive()
    for parent in parents:
        child = bench.submit(parent=parent)
        bench.block(parent, child)
        bench.finish(child)
        bench.finish(parent)
        bench.take()
        told += [order for order in bench.orders() if isinstance(order, Warn)]
    assert len(told) == 1
    assert bench.books.tally.episodes == {"certain": 1}
    assert "task 1 waits for task 65" in told[0].text
    assert bench.books.tally.helped == 64


def test_a_new_episode_after_a_quiet_time_is_told_again() -> None:
    """What trickles in within the quiet time belongs to the old one."""
    bench = Bench(base=1, ceiling=1, quiet=5.0)

    def starve() -> None:
        parent = bench.run()
        child = bench.submit(parent=parent)
        bench.block(parent, child)
        bench.finish(child)
        bench.finish(parent)
        bench.take()

    starve()
    bench.now = 4.0
    starve()
    assert bench.books.tally.episodes == {"certain": 1}
    bench.now = 10.0
    starve()
    assert bench.books.tally.episodes == {"certain": 2}


def test_opaque_starvation_grows_one_thread_a_tick_for_the_newest() -> None:
    """Nothing finishes, nothing is known: one thread each half second, up to the ceiling."""
    bench = Bench(base=1, ceiling=3)
    bench.run()
    for _ in range(5):
        bench.submit()
    bench.orders()
    bench.decisions.watch()
    assert bench.decisions.tick()
    assert bench.orders() == []
    for _ in range(2):
        bench.now += 0.5
        bench.decisions.tick()
        grown = [order for order in bench.orders() if isinstance(order, Grow)]
        assert grown == [Grow(newest=True)]
        bench.books.searching -= 1
        newest = bench.books.take(newest=True)
        assert newest is not None
        assert newest.id == bench._id + 1 - bench.books.tally.started + 1
    bench.now += 0.5
    bench.decisions.tick()
    assert bench.books.threads == 3


def test_progress_stops_the_ticks_from_growing() -> None:
    """A queue that moves needs no thread."""
    bench = Bench(base=1, ceiling=3)
    running = bench.run()
    for _ in range(5):
        bench.submit()
    bench.decisions.watch()
    bench.now = 0.5
    bench.finish(running)
    bench.take()
    bench.decisions.tick()
    assert bench.books.threads == 1


def test_the_ticks_end_with_the_queue() -> None:
    """Nothing ticks in a quiet pool."""
    bench = Bench(base=1, ceiling=1)
    bench.run()
    assert not bench.decisions.tick()


def test_a_wait_for_the_reactor_helps_the_task_submitted_for_it() -> None:
    """The thread runs what was submitted on the reactor on its behalf, and nothing else."""
    bench = Bench(base=1, ceiling=1)
    parent = bench.run()
    wait = bench.block(parent, None)
    bench.submit()
    assert wait.helping is None
    child = bench.submit(parent=parent, presumed=wait)
    assert wait.helping is child
    bench.finish(child)
    assert phase(wait) is Phase.WAITING
    bench.books.settle_wait(wait)
    assert phase(wait) is Phase.OVER


def test_the_reactors_answer_during_help_counts_after_it() -> None:
    """The thread is not in two places."""
    bench = Bench(base=1, ceiling=1)
    parent = bench.run()
    wait = bench.block(parent, None)
    child = bench.submit(parent=parent, presumed=wait)
    bench.books.settle_wait(wait)
    assert phase(wait) is Phase.HELPING
    bench.finish(child)
    assert phase(wait) is Phase.OVER


def test_presumed_starvation_fails_only_after_its_grace() -> None:
    """A child queued for a wait on the reactor that cannot help: two seconds, then an error."""
    bench = Bench(base=1, ceiling=1)
    parent = bench.run("db")
    wait = bench.block(parent, None, keeps=True)
    bench.submit("db", parent, presumed=wait)
    for bench.now in (0.0, 0.6, 1.9):
        bench.decisions.tick()
        assert wait.error is None
    bench.now = 2.1
    bench.decisions.tick()
    assert isinstance(wait.error, StarvationError)


def test_a_long_legal_wait_is_not_shot() -> None:
    """All threads wait a minute for the reactor while work is queued: nobody fails."""
    bench = Bench(base=2, ceiling=2, legal_wait=300.0)
    waits = [bench.block(bench.run(), None) for _ in range(2)]
    bench.submit()
    bench.decisions.watch()
    for _ in range(120):
        bench.now += 0.5
        assert bench.decisions.tick()
    assert [wait.error for wait in waits] == [None, None]
    bench.now = 301.0
    bench.decisions.tick()
    assert isinstance(waits[1].error, StarvationError)
    assert waits[0].error is None


def test_leases_held_by_waiting_transactions_are_part_of_the_ring() -> None:
    """The only lease is kept by who waits for a task that needs it, while another thread is free."""
    bench = Bench(base=3, ceiling=9, leases=1)
    bench.run("io")
    parent = bench.run("db")
    child = bench.submit("db", parent)
    wait = bench.block(parent, child, keeps=True)
    assert isinstance(wait.error, StarvationError)


def test_the_victim_is_one_that_can_go_on() -> None:
    """A wait that would have to regain the lease that an older transaction keeps is left alone."""
    bench = Bench(base=4, ceiling=9, leases=1)
    younger = bench.submit("db")
    bench.arrive()
    child = bench.run("io", younger)
    innocent = bench.block(younger, child)
    holder = bench.run("db")
    keeps = bench.block(holder, younger, keeps=True)
    assert isinstance(keeps.error, StarvationError)
    assert innocent.error is None


def test_a_refused_thread_lowers_the_ceiling_for_a_while() -> None:
    """The task stays queued; the whole ceiling is tried again after the quiet time."""
    bench = Bench(base=2, ceiling=4, quiet=5.0)
    bench.run()
    queued = bench.submit()
    bench.books.not_started(bench.now)
    assert queued.state is State.QUEUED
    bench.decisions.settle()
    assert (bench.books.ceiling, bench.books.threads) == (1, 1)
    bench.now = 5.0
    bench.orders()
    bench.decisions.tick()
    assert bench.books.ceiling == 4
    assert Grow() in bench.orders()


def test_only_threads_over_the_base_leave() -> None:
    """Back to the base when quiet."""
    bench = Bench(base=1, ceiling=4)
    bench.books.threads = 2
    bench.books.idle = ["a", "b"]
    assert bench.books.leave("a", at_least=1)
    assert not bench.books.leave("b", at_least=1)


def test_a_chain_of_tasks_does_not_keep_its_forebears() -> None:
    """A task that hands on to the next for ever must not grow."""
    bench = Bench(base=2, ceiling=2)
    first = bench.run()
    second = bench.run(parent=first)
    bench.finish(first)
    third = bench.run(parent=second)
    bench.finish(second)
    assert second.parent is None
    assert list(third.ancestors()) == []
