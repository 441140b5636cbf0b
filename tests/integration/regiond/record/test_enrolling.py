import pytest

from regiond.record import discovery, nodes
from switchgear.errors import BadRequest, Conflict, NoSuchThing
from switchgear.life import Status
from switchgear.power import ErrorClass, Fault, Power
from switchgear.wire.rack import FoundSlot
from tests.integration.regiond.record.world import World

RACKS = [("rack-a", "i1")]


def slots(*names: str) -> list[FoundSlot]:
    """Name slots as a rack does."""
    return [FoundSlot(slot=name, power=Power.OFF) for name in names]


def test_discovery_enrols_the_free_slots_as_new(world: World) -> None:
    """Slots without a node become new nodes; a page that comes twice counts once."""
    world.enrol(1)
    world.rack()
    ticket = world.do(discovery.start, "sm-1")
    assert world.do(discovery.start, "sm-1") == ticket
    (errand,) = world.do(discovery.waiting, RACKS)
    assert (errand.ticket, errand.chassis, errand.epoch) == (ticket, "sm-1", 1)
    assert world.do(discovery.waiting, RACKS) == []
    world.do(discovery.found, ticket, slots("0", "7/0"), True, None)
    world.do(discovery.found, ticket, slots("0", "7/0"), True, None)
    assert not world.do(discovery.show, ticket).ended
    world.do(discovery.found, ticket, slots("8/0"), False, None)
    world.do(discovery.found, ticket, slots("9/0"), False, None)
    view = world.do(discovery.show, ticket)
    assert (view.ended, view.found, view.enrolled, view.fault) == (True, 3, 2, None)
    assert world.do(nodes.names, "") == ["sm-1-000", "sm-1-7-0", "sm-1-8-0"]
    assert world.node("sm-1-7-0").status is Status.NEW


def test_a_discovery_that_could_not_be_sent_or_was_lost_comes_again(world: World) -> None:
    """An errand comes again when it was not sent, when another lease began, and after a minute."""
    world.enrol(0)
    ticket = world.do(discovery.start, "sm-1")
    assert world.do(discovery.waiting, RACKS) == []
    world.rack()
    assert len(world.do(discovery.waiting, RACKS)) == 1
    world.do(discovery.unsent, ticket)
    assert len(world.do(discovery.waiting, RACKS)) == 1
    world.rack("rack-a", "i2")
    assert len(world.do(discovery.waiting, [("rack-a", "i2")])) == 1
    world.sql("UPDATE discovery SET asked_at = now() - interval '61 seconds'")
    assert len(world.do(discovery.waiting, [("rack-a", "i2")])) == 1


def test_a_discovery_ends_with_the_fault_that_stopped_it(world: World) -> None:
    """A chassis that can't be read, or that no rack speaks to, ends the discovery with the reason."""
    world.enrol(0)
    world.rack()
    fault = Fault(ErrorClass.AUTH, "wrong password")
    ticket = world.do(discovery.start, "sm-1")
    world.do(discovery.found, ticket, [], False, fault)
    assert world.do(discovery.show, ticket).fault == fault
    other = world.do(discovery.start, "sm-1")
    assert other != ticket
    assert world.do(discovery.expire) == 0
    assert world.do(discovery.expire, -1.0) == 1
    expired = world.do(discovery.show, other).fault
    assert expired is not None
    assert expired.kind is ErrorClass.CONNECTION


def test_unknown_chassis_and_tickets_are_told(world: World) -> None:
    """Nothing is discovered on a chassis that does not exist."""
    with pytest.raises(NoSuchThing):
        world.do(discovery.start, "sm-9")
    with pytest.raises(NoSuchThing):
        world.do(discovery.show, "x")
    world.do(discovery.found, "x", slots("0"), False, None)


def test_a_node_is_enrolled_once(world: World) -> None:
    """A taken name, slot or address, an odd name or address and an unknown chassis are refused."""
    world.enrol(1)
    with pytest.raises(Conflict):
        world.do(nodes.add_node, "sm-1-000", "sm-1", "9", [])
    with pytest.raises(Conflict):
        world.do(nodes.add_node, "n", "sm-1", "0", [])
    with pytest.raises(Conflict, match=r"10\.1\.0\.1"):
        world.do(nodes.add_node, "n", "sm-1", "9", ["10.1.0.1"])
    with pytest.raises(BadRequest):
        world.do(nodes.add_node, "n", "sm-1", "9", ["10.1.0"])
    with pytest.raises(BadRequest):
        world.do(nodes.add_node, "n,m", "sm-1", "9", [])
    with pytest.raises(NoSuchThing):
        world.do(nodes.add_node, "n", "sm-9", "9", [])
    assert world.do(nodes.names, "") == ["sm-1-000"]
    world.do(nodes.add_node, "n", "sm-1", "9", ["fe80::1", "10.0.0.9"])
    assert world.node("n").addresses == ["10.0.0.9", "fe80::1"]


def test_nodes_are_listed_in_pages(world: World) -> None:
    """A list goes on after the last name of the page before."""
    names = world.enrol(5)
    first = world.do(nodes.list_nodes, None, "", 3)
    rest = world.do(nodes.list_nodes, None, first[-1].name, 3)
    assert [node.name for node in [*first, *rest]] == names
    assert [node.name for node in world.do(nodes.list_nodes, names[3:], "", 9)] == names[3:]
