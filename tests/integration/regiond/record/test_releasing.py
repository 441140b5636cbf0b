from regiond.record import dispatching, releasing
from switchgear.life import Status, Verb
from switchgear.operation import Outcome, State
from switchgear.power import Power
from switchgear.wire.client import NodeView
from tests.integration.regiond.record.world import NO_ANSWER, World


def statuses(world: World, names: list[str]) -> set[Status]:
    """Return the statuses that there are among nodes."""
    return {world.node(name).status for name in names}


def is_free(node: NodeView) -> bool:
    """Tell whether nobody owns a node and it holds no address."""
    return node.owner is None and node.addresses == []


def test_release_ends_ready_once_off_was_seen(world: World) -> None:
    """A release frees addresses and owner only after the power-off succeeded, and then is ready."""
    names = world.enrol(3, status=Status.DEPLOYED)
    world.rack()
    answer = world.ask(Verb.RELEASE)
    assert statuses(world, names) == {Status.RELEASING}
    orders = world.dispatch()
    node = world.node(names[0])
    assert (node.owner, node.addresses, node.wanted) == ("juju", ["10.1.0.1"], Power.OFF)
    assert world.obey(orders) == set(names)
    assert statuses(world, names) == {Status.READY}
    assert all(is_free(world.node(name)) for name in names)
    assert [item.outcome for item in world.items(answer)] == [Outcome.SUCCEEDED] * 3
    assert {item.status for item in world.items(answer)} == {Status.READY}
    assert {item.changed for item in world.items(answer)} == {True}


def test_an_old_sighting_does_not_finish_a_release(world: World) -> None:
    """A node last seen off before the release was dispatched is not ready because of that."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    world.rack()
    late = world.sighting(name, Power.OFF)
    world.reads += 5
    world.ask(Verb.RELEASE)
    world.dispatch()
    assert world.report(late) == set()
    assert world.node(name).status is Status.RELEASING
    assert world.node(name).power is Power.OFF


def test_a_newer_sighting_finishes_a_release(world: World) -> None:
    """Whoever saw the node off after the rack had the order: its release can be finished."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    world.rack()
    answer = world.ask(Verb.RELEASE)
    (order,) = world.dispatch()
    assert world.report(world.sighting(name, Power.OFF)) == {name}
    assert world.do(releasing.unfinished) == [name]
    assert world.do(releasing.finish, [name]) == 1
    assert world.do(releasing.finish, [name]) == 0
    assert world.node(name).status is Status.READY
    world.report(world.result(order))
    assert world.operation(name).changed is True
    assert world.items(answer)[0].changed is True


def test_off_seen_while_a_power_on_is_under_way_settles_nothing(world: World) -> None:
    """A power-on that a rack was sent may take effect later: then only the rack's result counts."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    world.rack()
    world.ask(Verb.ON)
    world.dispatch()
    world.ask(Verb.RELEASE)
    world.dispatch()
    assert world.report(world.sighting(name, Power.OFF)) == set()
    assert world.node(name).status is Status.RELEASING


def test_a_failed_power_off_fails_the_release_and_keeps_everything(world: World) -> None:
    """A failed release keeps owner, addresses and reason, and can be asked for again."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    world.rack()
    first = world.ask(Verb.RELEASE)
    world.obey(world.dispatch(), NO_ANSWER)
    node = world.node(name)
    assert (node.status, node.owner) == (Status.FAILED_RELEASING, "juju")
    assert node.addresses == ["10.1.0.1"]
    assert node.reason == "timed-out: it never went off"
    assert node.fault == NO_ANSWER
    assert world.items(first)[0].outcome is Outcome.TIMED_OUT
    world.ask(Verb.RELEASE)
    world.obey(world.dispatch())
    assert world.node(name).status is Status.READY


def test_release_twice_follows_the_first_and_is_no_error(world: World) -> None:
    """A second release while one is under way, or after it, is a success and no second power-off."""
    names = world.enrol(2, status=Status.DEPLOYED)
    world.rack()
    world.ask(Verb.RELEASE)
    again = world.ask(Verb.RELEASE, client="other")
    assert again.refused == 0
    assert [item.outcome for item in world.items(again)] == [None, None]
    orders = world.dispatch()
    assert len(orders) == 2
    world.obey(orders)
    assert [item.outcome for item in world.items(again)] == [Outcome.SUCCEEDED] * 2
    third = world.ask(Verb.RELEASE)
    assert [item.changed for item in world.items(third)] == [False, False]
    assert statuses(world, names) == {Status.READY}
    assert len(world.sql("SELECT number FROM operation")) == 2


def test_release_of_a_new_node_is_refused_and_the_others_go_on(world: World) -> None:
    """A node whose status does not allow it is refused with a reason; the rest is not touched by that."""
    names = world.enrol(2, status=Status.DEPLOYED)
    world.enrol(1, name="sm-2")
    answer = world.ask(Verb.RELEASE)
    assert (answer.nodes, answer.refused) == (3, 1)
    refused = world.items(answer)[2]
    assert refused.refused
    assert refused.fault is not None
    assert "is new" in refused.fault.text
    assert statuses(world, names) == {Status.RELEASING}


def test_a_release_without_any_rack_fails_with_that_reason(world: World) -> None:
    """When no rack speaks to the chassis for too long the release fails and says so."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    answer = world.ask(Verb.RELEASE)
    assert world.do(dispatching.expire) == 0
    world.sql("UPDATE operation SET requested_at = now() - interval '121 seconds'")
    assert world.do(dispatching.expire) == 1
    assert world.node(name).status is Status.FAILED_RELEASING
    assert "no rack" in (world.node(name).reason or "")
    assert world.operation(name).state is State.ENDED
    assert world.items(answer)[0].outcome is Outcome.FAILED


def test_a_release_of_a_node_that_is_off_still_looks(world: World) -> None:
    """A node that is known to be off is released by one operation, which the rack ends unchanged."""
    (name,) = world.enrol(1, status=Status.ALLOCATED)
    world.rack()
    world.report(world.sighting(name, Power.OFF))
    world.ask(Verb.RELEASE)
    assert world.node(name).status is Status.RELEASING
    world.obey(world.dispatch())
    assert world.node(name).status is Status.READY
