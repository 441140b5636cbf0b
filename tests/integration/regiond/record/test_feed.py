import pytest

from regiond.record import feed, nodes
from regiond.record.feed import Event
from regiond.store.connecting import connect
from switchgear.errors import BadRequest
from switchgear.life import Status, Verb
from switchgear.power import Power
from tests.integration.regiond.record.world import World


def test_a_follower_misses_no_event_of_a_slow_transaction(world: World) -> None:
    """An event written early and committed late is told, after one that was written and committed between."""
    cursor = world.do(feed.start_cursor)
    slow = connect(world.dsn)
    with slow.cursor() as cur:
        feed.write(cur, [Event(kind="status", text="slow")])
        world.do(feed.write, [Event(kind="status", text="fast")])
        early, cursor = world.do(feed.events_after, cursor, 10)
        assert early == []
    slow.commit()
    slow.close()
    late, cursor = world.do(feed.events_after, cursor, 10)
    assert [event.text for event in late] == ["slow", "fast"]
    assert world.do(feed.events_after, cursor, 10) == ([], cursor)


def test_events_come_in_pages_and_from_the_start_cursor_on(world: World) -> None:
    """A new follower is told nothing of before, and everything after in pages."""
    world.do(feed.write, [Event(kind="status", text="before")])
    cursor = world.do(feed.start_cursor)
    for number in range(5):
        world.do(feed.write, [Event(kind="status", text=str(number), node="n")])
    first, cursor = world.do(feed.events_after, cursor, 3)
    rest, _ = world.do(feed.events_after, cursor, 3)
    assert [event.text for event in [*first, *rest]] == list("01234")
    assert first[0].at.endswith("Z")
    with pytest.raises(BadRequest):
        world.do(feed.events_after, "x", 3)


def test_changed_nodes_tells_every_change_of_power_life_and_operation(world: World) -> None:
    """A follower of nodes is told of each node that changed, also by a transaction that was slow."""
    first, second, third = world.enrol(3, status=Status.READY)
    world.rack()
    none, cursor = world.do(nodes.changed_nodes, "")
    assert none == []
    slow = connect(world.dsn)
    with slow.cursor() as cur:
        cur.execute("UPDATE life SET reason = 'x' WHERE node = %s", (third,))
        world.report(world.sighting(first, Power.ON))
        world.ask(Verb.OFF, second)
        changed, cursor = world.do(nodes.changed_nodes, cursor)
        assert {node.name for node in changed} == {first, second}
    slow.commit()
    slow.close()
    changed, cursor = world.do(nodes.changed_nodes, cursor)
    assert third in {node.name for node in changed}
    changed, cursor = world.do(nodes.changed_nodes, cursor)
    assert world.do(nodes.changed_nodes, cursor) == ([], cursor)
    with pytest.raises(BadRequest):
        world.do(nodes.changed_nodes, "x")


def test_the_begin_and_the_end_of_a_check_are_told(world: World) -> None:
    """Who follows the nodes sees a check begin and end, even where nothing else changed."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    _, cursor = world.do(nodes.changed_nodes, "")
    world.ask(Verb.QUERY)
    (begun,), cursor = world.do(nodes.changed_nodes, cursor)
    assert begun.operation is not None
    (order,) = world.dispatch()
    world.report(world.result(order))
    (ended,), _ = world.do(nodes.changed_nodes, cursor)
    assert (ended.name, ended.operation) == (name, None)


def test_old_and_surplus_events_are_pruned(world: World) -> None:
    """Events older than the age, and all but the newest, go; in steps of at most the limit."""
    world.do(feed.write, [Event(kind="status", text=str(number)) for number in range(10)])
    world.sql("UPDATE event SET at = now() - interval '31 days' WHERE id <= 4")
    assert world.do(feed.prune, limit=3) == 3
    assert world.do(feed.prune) == 1
    assert world.do(feed.prune, keep=2) == 4
    assert [row.text for row in world.sql("SELECT text FROM event ORDER BY id")] == ["8", "9"]


def test_an_unchanged_read_writes_no_event(world: World) -> None:
    """A hundred sweeps that see the same write one event at most."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    for _ in range(20):
        world.report(world.sighting(name, Power.ON))
    assert len(world.sql("SELECT id FROM event WHERE kind = 'power'")) == 1
