"""Whatever the tasks wait for, without a ring everything completes within the bounds."""

import threading
from typing import Any

from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred, gatherResults

from threadpool import AdaptivePool, StarvationError, Task

from .pump import PATIENCE, running


@frozen(kw_only=True)
class Shape:
    """A task: its kind, how it waits for its children, and they."""

    kind: str
    way: str
    children: tuple["Shape", ...] = ()

    def size(self) -> int:
        """How many tasks it is."""
        return 1 + sum(child.size() for child in self.children)


KINDS = st.sampled_from(["db", "io"])
WAYS = st.sampled_from(["each", "all", "last-first", "reactor", "timed"])


def shapes(depth: int) -> st.SearchStrategy[Shape]:
    """Trees of tasks at most `depth` deep below the root."""
    children: st.SearchStrategy[tuple[Shape, ...]] = st.just(())
    if depth:
        children = st.lists(shapes(depth - 1), max_size=2).map(tuple)
    return st.builds(Shape, kind=KINDS, way=WAYS, children=children)


def chains(depth: int) -> st.SearchStrategy[Shape]:
    """One child below the other, `depth` deep."""

    def chain(links: list[tuple[str, str]]) -> Shape:
        shape: tuple[Shape, ...] = ()
        for kind, way in links:
            shape = (Shape(kind=kind, way=way, children=shape),)
        return shape[0]

    return st.lists(st.tuples(KINDS, WAYS), min_size=1, max_size=depth).map(chain)


def perform(pool: AdaptivePool, shape: Shape) -> int:
    """Run the shape's children as it says, and count the tasks."""

    def submit(child: Shape) -> Task[int]:
        return pool.submit(child.kind, perform, pool, child)

    def on_reactor(child: Shape) -> Deferred[int]:
        return pool.defer(child.kind, perform, pool, child)

    match shape.way:
        case "each":
            return 1 + sum(pool.block_on(submit(child)) for child in shape.children)
        case "timed":
            return 1 + sum(pool.block_on(submit(child), 60.0) for child in shape.children)
        case "reactor":
            return sum(
                (int(pool.block_on_reactor(on_reactor, child)) for child in shape.children), 1
            )
        case _:
            tasks = [submit(child) for child in shape.children]
            order = tasks if shape.way == "all" else tasks[::-1]
            return 1 + sum(map(pool.block_on, order))


@given(
    roots=st.lists(st.one_of(shapes(3), chains(8)), min_size=1, max_size=5),
    base=st.integers(1, 4),
    more=st.integers(0, 4),
    leases=st.integers(1, 3),
    quota=st.integers(1, 4),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_acyclic_graph_completes_within_its_bounds(
    roots: list[Shape], base: int, more: int, leases: int, quota: int
) -> None:
    """No error, no hang; threads, leases and books as promised, whatever the shape."""
    bounds = {"db": 40, "io": quota}
    with running(base=base, ceiling=base + more, leases=leases, quotas=bounds) as (pool, reactor):
        done = gatherResults([pool.defer(root.kind, perform, pool, root) for root in roots])
        sizes = [root.size() for root in roots]
        assert reactor.until(done) == sizes
        gauges = pool.gauges()
        assert gauges.peak_threads <= base + more
        assert gauges.peak_leases <= leases
        assert gauges.started == gauges.finished == sum(sizes)
        assert gauges.failed == 0


def perform_in_transaction(pool: AdaptivePool, shape: Shape) -> int:
    """The same, but where help is forbidden; a starved wait counts as nothing."""
    if shape.kind != "db":
        return perform(pool, shape)
    with pool.transaction():
        tasks = [
            pool.submit(child.kind, perform_in_transaction, pool, child) for child in shape.children
        ]
        return 1 + sum(_awaited(pool, task) for task in tasks)


def _awaited(pool: AdaptivePool, task: Task[int]) -> int:
    try:
        return pool.block_on(task)
    except StarvationError:
        return 0


@given(
    roots=st.lists(st.one_of(shapes(3), chains(8)), min_size=1, max_size=5),
    base=st.integers(1, 3),
    more=st.integers(0, 3),
    leases=st.integers(1, 3),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_where_help_is_forbidden_everything_still_ends(
    roots: list[Shape], base: int, more: int, leases: int
) -> None:
    """Done, or with the named error; never a hang."""
    bounds: dict[str, Any] = {"base": base, "ceiling": base + more, "leases": leases}
    with running(**bounds, tick=0.01, grace=0.05) as (pool, reactor):
        done = [pool.defer(root.kind, perform_in_transaction, pool, root) for root in roots]
        for promise in done:
            promise.addErrback(lambda failure: failure.trap(StarvationError))
            reactor.until(promise)
        assert pool.gauges().peak_threads <= base + more


@given(
    edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6),
    ceiling=st.integers(1, 6),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_graph_of_waits_ends_and_rings_are_named(
    edges: list[tuple[int, int]], ceiling: int
) -> None:
    """Tasks that wait for any others, themselves too: each ends; an error only where a ring is."""
    with running(base=1, ceiling=ceiling) as (pool, reactor):
        tasks: list[Task[int]] = []
        ready = threading.Event()

        def visit(number: int) -> int:
            assert ready.wait(PATIENCE)
            return sum(pool.block_on(tasks[other]) for one, other in edges if one == number)

        tasks.extend(pool.submit("io", visit, number) for number in range(6))
        ready.set()
        failed = set()
        for task in tasks:
            try:
                reactor.until(task.deferred)
            except StarvationError:
                failed.add(task)
        assert bool(failed) == _has_ring(edges)


def _has_ring(edges: list[tuple[int, int]]) -> bool:
    """Whether the directed graph has a cycle: nodes without a way on are taken away until none."""
    left = set(edges)
    while True:
        sources = {one for one, _ in left}
        fewer = {(one, other) for one, other in left if other in sources}
        if fewer == left:
            return bool(left)
        left = fewer
