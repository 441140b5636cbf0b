import threading
from collections.abc import Callable
from typing import Any

import pytest

from regiond.record import asking, nodes, requests
from regiond.record.dispatching import sent
from switchgear.errors import BadRequest, Conflict, NoSuchThing
from switchgear.life import Status, Verb
from switchgear.operation import Outcome, State
from switchgear.power import Power
from switchgear.wire.client import Ask
from tests.integration.regiond.record.world import World


class Counting:
    """A cursor that counts its statements."""

    def __init__(self, cur: Any) -> None:
        self._cur = cur
        self.statements = 0

    def execute(self, query: str, vars: Any = None) -> object:  # noqa: A002 - the vendor's name
        self.statements += 1
        return self._cur.execute(query, vars)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cur, name)


def statements(world: World, f: Callable[..., Any], *args: Any) -> int:
    """Run a step, commit it, and return how many statements it took."""

    def count(cur: Any) -> int:
        counting = Counting(cur)
        f(counting, *args)
        return counting.statements

    return world.do(count)


def test_an_unknown_name_stops_the_whole_request(world: World) -> None:
    """Nothing is begun for any node when one name of the set does not exist, and the error names it."""
    world.enrol(2, status=Status.DEPLOYED)
    with pytest.raises(NoSuchThing, match="nowhere"):
        world.ask(Verb.RELEASE, "sm-1-000,nowhere")
    with pytest.raises(NoSuchThing, match="sm-9"):
        world.ask(Verb.RELEASE, "@all,@chassis:sm-9")
    with pytest.raises(BadRequest):
        world.ask(Verb.RELEASE, "sm-1-[5-1]")
    with pytest.raises(BadRequest):
        world.ask(Verb.RELEASE, " ")
    assert world.sql("SELECT number FROM request") == []
    assert world.sql("SELECT number FROM operation") == []


def test_groups_name_what_the_record_knows(world: World) -> None:
    """A set by chassis, status or owner has exactly the nodes that are so."""
    first = world.enrol(2, status=Status.DEPLOYED)
    second = world.enrol(2, name="sm-2", status=Status.READY)
    assert world.do(nodes.names, "@chassis:sm-1") == first
    assert world.do(nodes.names, "@status:ready") == second
    assert world.do(nodes.names, "owner=juju") == first
    assert sorted(world.do(nodes.names, "@all!sm-1-000")) == sorted([*first, *second])[1:]
    with pytest.raises(BadRequest, match="no status"):
        world.do(nodes.names, "@status:off")


def test_one_key_is_one_request(world: World) -> None:
    """The same key from the same client gives the same answer, and begins nothing twice."""
    world.enrol(2, status=Status.DEPLOYED)
    first = world.ask(Verb.OFF, key="k1")
    assert world.ask(Verb.OFF, key="k1") == first
    assert world.ask(Verb.OFF, key="k1", client="other").request != first.request
    with pytest.raises(Conflict):
        world.ask(Verb.ON, key="k1")
    assert len(world.sql("SELECT number FROM operation")) == 2


def test_a_dry_run_names_the_nodes_and_changes_nothing(world: World) -> None:
    """A dry run counts nodes and refusals and leaves no trace."""
    world.enrol(2, status=Status.DEPLOYED)
    world.enrol(1, name="sm-2")
    answer = world.ask(Verb.RELEASE, dry_run=True)
    assert (answer.request, answer.nodes, answer.refused) == ("", 3, 1)
    assert world.sql("SELECT number FROM request") == []
    assert world.node("sm-1-000").status is Status.DEPLOYED


def test_the_same_wish_joins_one_operation(world: World) -> None:
    """Twenty presses of one button are one operation, and every request ends with it."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    answers = [world.ask(Verb.QUERY) for _ in range(20)]
    orders = world.dispatch()
    assert len(orders) == 1
    world.obey(orders)
    assert {world.items(a)[0].outcome for a in answers} == {Outcome.SUCCEEDED}
    assert {world.items(a)[0].operation for a in answers} == {orders[0].operation}
    assert world.do(requests.show_request, answers[0].request).ended
    assert world.node(name).operation is None


def test_the_opposite_wish_supersedes_what_was_not_sent(world: World) -> None:
    """A power-on that no rack has yet ends superseded when off is asked for; its request says why."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    on = world.ask(Verb.ON)
    world.ask(Verb.OFF)
    (item,) = world.items(on)
    assert item.outcome is Outcome.SUPERSEDED
    assert item.fault is not None
    assert "juju asked for off" in item.fault.text
    assert [order.wish.power for order in world.dispatch()] == [Power.OFF]
    assert world.node(name).wanted is Power.OFF


def test_the_opposite_wish_leaves_what_was_sent_to_the_rack(world: World) -> None:
    """A power-on that a rack has is not ended here: the rack gets both and orders them."""
    world.enrol(1, status=Status.READY)
    world.rack()
    on = world.ask(Verb.ON)
    world.dispatch()
    world.ask(Verb.OFF)
    assert world.items(on)[0].outcome is None
    assert [order.wish.power for order in world.dispatch()] == [Power.OFF]
    refused = world.ask(Verb.ON)
    assert refused.refused == 1


def test_a_power_on_never_crosses_a_release(world: World) -> None:
    """On is refused while a node is releasing; a check is not."""
    world.enrol(1, status=Status.DEPLOYED)
    world.ask(Verb.RELEASE)
    assert world.ask(Verb.ON).refused == 1
    assert world.ask(Verb.QUERY).refused == 0


@pytest.mark.parametrize("verb", [Verb.RELEASE, Verb.MARK_BROKEN, Verb.QUERY])
def test_a_bulk_request_is_a_constant_number_of_statements(world: World, verb: Verb) -> None:
    """200 nodes cost as many statements as one, also to claim and to report."""
    world.enrol(200, status=Status.DEPLOYED)
    world.enrol(1, name="sm-2", status=Status.DEPLOYED)
    world.rack()
    one = statements(world, asking.ask, "juju", Ask(verb=verb, nodes="@chassis:sm-2"))
    many = statements(world, asking.ask, "juju", Ask(verb=verb, nodes="@chassis:sm-1"))
    assert one == many
    assert many <= 20
    parcels = world.claim()
    assert sorted(len(parcel.orders) for parcel in parcels) == [1, 200]
    assert {statements(world, sent, parcel, 0) for parcel in parcels} == {1}


def test_four_clients_in_different_orders_end_in_legal_states(world: World) -> None:
    """Parallel requests on the same nodes neither deadlock nor begin an operation twice."""
    names = world.enrol(60, status=Status.DEPLOYED)
    failures: list[Exception] = []

    def client(verb: Verb, expression: str) -> None:
        other = World(world.dsn)
        try:
            for _ in range(3):
                other.ask(verb, expression, client=verb)
        except Exception as error:  # noqa: BLE001 - shown by the assertion below
            failures.append(error)
        finally:
            other.close()

    verbs = [Verb.RELEASE, Verb.MARK_BROKEN, Verb.QUERY, Verb.RELEASE]
    orders = [names, names[::-1], names[30:] + names[:30], names[1::2] + names[::2]]
    threads = [
        threading.Thread(target=client, args=(verb, ",".join(order)))
        for verb, order in zip(verbs, orders, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert {world.node(name).status for name in names} <= {Status.RELEASING, Status.BROKEN}
    doubled = world.sql(
        "SELECT node FROM operation WHERE state <> 'ended' GROUP BY node, wish HAVING count(*) > 1"
    )
    assert doubled == []


def test_old_requests_are_pruned_with_their_operations_and_running_ones_never(world: World) -> None:
    """What ended long ago goes; a request that still runs stays, however old."""
    world.enrol(2, status=Status.READY)
    world.rack()
    world.ask(Verb.QUERY, "sm-1-000")
    world.obey(world.dispatch())
    running = world.ask(Verb.QUERY, "sm-1-001")
    assert world.do(requests.prune) == 0
    world.sql("UPDATE request SET requested_at = now() - interval '91 days'")
    world.sql("UPDATE operation SET ended_at = now() - interval '91 days' WHERE state = 'ended'")
    assert world.do(requests.prune) == 2
    assert world.do(requests.show_request, running.request).running == 1


def test_an_operation_is_shown_by_its_id(world: World) -> None:
    """An operation shows what it is and who asked; a wrong id is told apart from an unknown one."""
    (name,) = world.enrol(1, status=Status.READY)
    answer = world.ask(Verb.OFF, name)
    (item,) = world.items(answer)
    assert item.operation is not None
    view = world.do(requests.show_operation, item.operation)
    assert (view.node, view.state, view.requested_by) == (name, State.QUEUED, "juju")
    assert world.node(name).operation == item.operation
    with pytest.raises(NoSuchThing):
        world.do(requests.show_operation, "2." + item.operation.partition(".")[2])
    with pytest.raises(BadRequest):
        world.do(requests.show_operation, "x")
    with pytest.raises(NoSuchThing):
        world.do(requests.show_request, "1.99999999999999999999")
