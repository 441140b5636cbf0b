from attrs import evolve

from switchgear.life import Status, Verb
from switchgear.operation import Outcome
from switchgear.power import Power
from switchgear.wire.rack import Seen
from tests.integration.regiond.record.world import NO_ANSWER, World


def test_accept_makes_a_new_node_ready_once_it_is_seen_off(world: World) -> None:
    """A new node is ready after one good check that shows it off."""
    (name,) = world.enrol(1)
    world.rack()
    answer = world.ask(Verb.ACCEPT)
    assert world.node(name).status is Status.NEW
    world.obey(world.dispatch())
    assert world.node(name).status is Status.READY
    assert world.items(answer)[0].outcome is Outcome.SUCCEEDED


def test_accept_of_a_node_that_is_on_fails_with_what_to_do(world: World) -> None:
    """A new node that is on stays new, and the answer says to switch it off first."""
    (name,) = world.enrol(1)
    world.rack()
    answer = world.ask(Verb.ACCEPT)
    (order,) = world.dispatch()
    result = world.result(order).result
    assert result is not None
    world.report(Seen(result=evolve(result, power=Power.ON)))
    assert world.node(name).status is Status.NEW
    (item,) = world.items(answer)
    assert item.outcome is Outcome.FAILED
    assert item.fault is not None
    assert "switch it off first" in item.fault.text


def test_exactly_one_client_gets_a_node(world: World) -> None:
    """The second to allocate a node is refused, and told who has it."""
    (name,) = world.enrol(1, status=Status.READY)
    assert world.ask(Verb.ALLOCATE, client="juju").refused == 0
    late = world.ask(Verb.ALLOCATE, client="maas")
    assert late.refused == 1
    assert world.node(name).owner == "juju"
    fault = world.items(late)[0].fault
    assert fault is not None
    assert "allocated by juju" in fault.text


def test_deploy_powers_on_and_holds_the_addresses_again(world: World) -> None:
    """A deployed node is on, and has the static addresses back that its last release freed."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    world.rack()
    world.ask(Verb.RELEASE)
    world.obey(world.dispatch())
    assert world.node(name).addresses == []
    world.ask(Verb.ALLOCATE)
    answer = world.ask(Verb.DEPLOY)
    assert world.node(name).addresses == ["10.1.0.1"]
    world.obey(world.dispatch())
    assert world.node(name).status is Status.DEPLOYED
    assert world.items(answer)[0].outcome is Outcome.SUCCEEDED


def test_a_failed_deploy_can_be_asked_for_again(world: World) -> None:
    """A node that did not go on is failed-deploying with its reason, and deploys on the next try."""
    (name,) = world.enrol(1, status=Status.ALLOCATED)
    world.rack()
    world.ask(Verb.DEPLOY)
    world.obey(world.dispatch(), NO_ANSWER)
    assert world.node(name).status is Status.FAILED_DEPLOYING
    world.ask(Verb.DEPLOY)
    world.obey(world.dispatch())
    assert (world.node(name).status, world.node(name).reason) == (Status.DEPLOYED, None)


def test_broken_and_fixed_gives_back_what_was(world: World) -> None:
    """A deployed node that was marked broken is seen off, and is deployed with its owner when fixed."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    world.rack()
    reason = "Lüfter 🔥 " * 100
    answer = world.ask(Verb.MARK_BROKEN, reason=reason)
    assert world.items(answer)[0].outcome is None
    world.obey(world.dispatch())
    node = world.node(name)
    assert (node.status, node.power, node.owner) == (Status.BROKEN, Power.OFF, "juju")
    assert node.reason == reason
    assert world.items(answer)[0].outcome is Outcome.SUCCEEDED
    world.ask(Verb.MARK_BROKEN, reason="another")
    assert world.node(name).reason == reason
    world.ask(Verb.MARK_FIXED)
    node = world.node(name)
    assert (node.status, node.owner, node.reason) == (Status.DEPLOYED, "juju", None)


def test_a_broken_release_goes_on_as_a_power_off_and_never_becomes_ready(world: World) -> None:
    """A node that is marked broken in the middle of its release keeps its one power-off, and its owner."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    world.rack()
    release = world.ask(Verb.RELEASE)
    orders = world.dispatch()
    world.ask(Verb.MARK_BROKEN)
    assert world.dispatch() == []
    assert world.items(release)[0].outcome is Outcome.SUPERSEDED
    assert world.obey(orders) == set()
    assert world.node(name).status is Status.BROKEN
    world.ask(Verb.MARK_FIXED)
    node = world.node(name)
    assert (node.status, node.owner) == (Status.FAILED_RELEASING, "juju")
    assert node.addresses == ["10.1.0.1"]


def test_fixed_is_refused_for_a_node_that_was_ready_and_is_on(world: World) -> None:
    """A node that was ready is not ready again while it is on; with its power unknown it is."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    world.ask(Verb.MARK_BROKEN, power_off=False)
    world.report(world.sighting(name, Power.ON))
    refused = world.ask(Verb.MARK_FIXED)
    assert refused.refused == 1
    assert world.node(name).status is Status.BROKEN
    world.report(world.sighting(name, Power.UNKNOWN))
    assert world.ask(Verb.MARK_FIXED).refused == 0
    assert world.node(name).status is Status.READY


def test_a_broken_node_can_be_powered_and_checked(world: World) -> None:
    """Power on and check work on a broken node and leave its status alone."""
    (name,) = world.enrol(1, status=Status.BROKEN)
    world.rack()
    world.ask(Verb.ON)
    world.ask(Verb.QUERY)
    world.obey(world.dispatch())
    assert world.node(name).status is Status.BROKEN
