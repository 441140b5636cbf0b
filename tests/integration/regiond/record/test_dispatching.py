from attrs import evolve

from regiond.record import dispatching
from switchgear.life import Status, Verb
from switchgear.operation import Outcome, State
from switchgear.power import ErrorClass, Fault, Power
from switchgear.wire.rack import Health, Progress, Seen, Stage
from tests.integration.regiond.record.world import NO_ANSWER, World


def test_an_operation_goes_to_one_region_at_a_time(world: World) -> None:
    """What one region claimed no other gets, until it gave it up or the claim ran out."""
    world.enrol(3, status=Status.READY)
    world.rack()
    world.ask(Verb.QUERY)
    (parcel,) = world.claim()
    assert len(parcel.orders) == 3
    assert world.claim() == []
    world.do(dispatching.unsent, parcel)
    assert len(world.claim()[0].orders) == 3
    world.do(dispatching.clear_claims, "run-1")
    assert len(world.claim()[0].orders) == 3
    world.sql("UPDATE operation SET claim_until = now() - interval '1 second'")
    assert len(world.claim()[0].orders) == 3


def test_nothing_goes_to_a_rack_without_a_lease_or_link(world: World) -> None:
    """Operations wait while no linked rack holds their chassis."""
    world.enrol(1, status=Status.READY)
    world.ask(Verb.QUERY)
    assert world.claim() == []
    world.rack()
    assert world.claim("rack-b") == []
    assert world.do(dispatching.claim, "run-1", [], 10) == []
    world.lapse()
    assert world.claim() == []


def test_a_new_lease_brings_unfinished_operations_again(world: World) -> None:
    """What a rack had comes again to the next holder, which is told how long the other is gone."""
    world.enrol(1, status=Status.READY)
    world.rack("rack-a", "i1")
    world.ask(Verb.OFF)
    (first,) = world.dispatch()
    assert first.unsure_for is None
    assert world.dispatch() == []
    world.rack("rack-a", "i2")
    (again,) = world.dispatch("rack-a", "i2")
    assert again == first
    world.sql("UPDATE lease SET expires = now() - interval '5 seconds'")
    world.rack("rack-b", "i1")
    (other,) = world.dispatch("rack-b", "i1")
    assert other.operation == first.operation
    assert other.unsure_for is not None
    assert 5.0 <= other.unsure_for < 15.0


def test_a_result_of_an_older_lease_ends_nothing_that_was_sent_again(world: World) -> None:
    """Only the rack that has the operation now can end it; a doubled result changes nothing."""
    (name,) = world.enrol(1, status=Status.DEPLOYED)
    world.rack("rack-a", "i1")
    answer = world.ask(Verb.RELEASE)
    (order,) = world.dispatch()
    late = world.result(order, NO_ANSWER)
    world.rack("rack-a", "i2")
    (again,) = world.dispatch("rack-a", "i2")
    world.report(late)
    assert world.items(answer)[0].outcome is None
    world.obey([again])
    assert world.node(name).status is Status.READY
    world.report(world.result(again, NO_ANSWER))
    assert world.operation(name).outcome is Outcome.SUCCEEDED
    assert world.node(name).fault is None


def test_a_result_may_come_before_the_region_noted_that_it_was_sent(world: World) -> None:
    """A rack that is faster than the region's own commit ends the operation, and `sent` undoes nothing."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    world.ask(Verb.OFF)
    (parcel,) = world.claim()
    world.report(world.result(parcel.orders[0]))
    world.do(dispatching.sent, parcel, 0)
    assert world.operation(name).state is State.ENDED


def test_progress_is_shown_until_the_end(world: World) -> None:
    """Place and expected wait are shown while an operation waits, and gone when it ended."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    world.ask(Verb.OFF)
    (order,) = world.dispatch()
    waiting = Progress(operation=order.operation, stage=Stage.WAITING, place=3, wait=12.5)
    world.report(Seen(progress=waiting))
    view = world.operation(name)
    assert (view.state, view.place, view.wait) == (State.DISPATCHED, 3, 12.5)
    world.report(Seen(progress=Progress(operation=order.operation, stage=Stage.COMMANDED)))
    assert world.operation(name).state is State.RUNNING
    world.obey([order])
    world.report(Seen(progress=waiting))
    view = world.operation(name)
    assert (view.state, view.place, view.changed, view.commands) == (State.ENDED, None, True, 1)


def test_only_newer_sightings_replace_what_was_seen(world: World) -> None:
    """An older read, whenever it arrives, and one of an epoch that never was, change nothing."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    world.report(world.sighting(name, Power.ON, read=7))
    world.report(world.sighting(name, Power.OFF, read=6))
    world.report(world.sighting(name, Power.OFF, read=9, epoch=5))
    assert world.node(name).power is Power.ON
    world.report(world.sighting(name, Power.OFF, read=9), world.sighting(name, Power.ON, read=8))
    assert world.node(name).power is Power.OFF
    assert (world.node(name).seen_age or 0.0) < 10.0


def test_the_same_report_twice_is_the_same_as_once(world: World) -> None:
    """A report that is sent again adds no event and changes no row that counts."""
    (name,) = world.enrol(1, status=Status.READY)
    world.rack()
    world.ask(Verb.OFF)
    (order,) = world.dispatch()
    fault = Fault(ErrorClass.AUTH, "wrong password")
    health = Seen(health=Health(chassis="sm-1", epoch=1, number=1, fault=fault))
    report = [world.sighting(name, Power.OFF), world.result(order), health]
    world.report(*report)
    before = world.sql("SELECT count(*) FROM event"), world.operation(name).outcome
    world.report(*report)
    assert (world.sql("SELECT count(*) FROM event"), world.operation(name).outcome) == before


def test_health_is_one_event_for_each_change(world: World) -> None:
    """A chassis that fails the same way again and again is one event, and one more when it answers."""
    world.enrol(1)
    world.rack()
    fault = Fault(ErrorClass.CONNECTION, "no route")
    bad = Health(chassis="sm-1", epoch=1, number=1, fault=fault)
    for number in range(1, 6):
        world.report(Seen(health=evolve(bad, number=number)))
    world.report(Seen(health=evolve(bad, number=6, fault=None)))
    world.report(Seen(health=evolve(bad, number=2)))
    events = world.sql("SELECT text FROM event WHERE kind = 'chassis' ORDER BY id")
    assert [row.text for row in events][1:] == ["connection: no route", "answers again"]


def test_a_report_about_unknown_things_is_taken(world: World) -> None:
    """Slots without a node and operations that never were are left out without an error."""
    (name,) = world.enrol(1)
    world.rack()
    stray = world.sighting(name, Power.ON)
    assert stray.sighting is not None
    odd = Progress(operation="nonsense", stage=Stage.STARTED)
    old = Progress(operation="7.1", stage=Stage.STARTED)
    assert (
        world.report(
            Seen(sighting=evolve(stray.sighting, slot="none")),
            Seen(progress=odd),
            Seen(progress=old),
        )
        == set()
    )
    assert world.report() == set()
