"""The rules of the chassis queue, one at a time."""

import pytest

from drivers.interfaces import Fate, Limits
from rackd.queue import (
    Accepted,
    Action,
    Answered,
    Broke,
    ChassisQueue,
    CloseSession,
    Found,
    Intent,
    StartCommand,
    StartRead,
    Tell,
)
from switchgear.operation import Outcome, Rank
from switchgear.power import ErrorClass, Fault, Power, Wish
from switchgear.wire.rack import Health, Order, Progress, Result, Sighting, Stage

LIMITS = Limits(parallel=1, call=10.0, action=100.0, effect=20.0, usual_effect=2.0)
LOST = Broke(Fault(ErrorClass.CONNECTION, "lost"), Fate.UNKNOWN)
BUSY = Broke(Fault(ErrorClass.BUSY, "busy"), Fate.NOT_ACCEPTED)
AUTH = Broke(Fault(ErrorClass.AUTH, "refused"), Fate.NOT_ACCEPTED)


class Hand:
    """A queue moved by hand. Every step checks that no second call starts."""

    def __init__(self, until: float = 1e6) -> None:
        self.queue = ChassisQueue(chassis="sm-1", limits=LIMITS, chance=lambda: 1.0)
        self.told: list[Sighting | Progress | Result | Health] = []
        self.found: list[Found] = []
        self.closed = 0
        self.running: StartRead | StartCommand | None = None
        self.now = 100.0
        self.take(self.queue.lease(self.now, epoch=1, until=until, credentials=1))

    def take(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Tell(seen):
                    self.told += [
                        item
                        for item in (seen.sighting, seen.progress, seen.result, seen.health)
                        if item is not None
                    ]
                case Found():
                    self.found.append(action)
                case CloseSession():
                    self.closed += 1
                case _:
                    assert self.running is None
                    self.running = action

    def order(self, wish: Wish, slot: str = "a", operation: str = "", **known: object) -> None:
        name = operation or f"{wish}-{slot}"
        order = Order(operation=name, node=slot, slot=slot, wish=wish, **known)  # type: ignore[arg-type]
        self.take(self.queue.submit(self.now, [order]))

    def end(self, outcome: Answered | Accepted | Broke, after: float = 0.1) -> None:
        assert self.running is not None
        self.now += after
        call, self.running = self.running.call, None
        self.take(self.queue.ended(self.now, call, outcome))

    def shows(self, after: float = 0.1, **powers: Power) -> None:
        """The running read shows these powers."""
        assert isinstance(self.running, StartRead)
        self.end(Answered(powers), after)

    def wake(self) -> float:
        """Let time pass until the queue wants to go on; return how long that was."""
        assert self.queue.wake_at is not None
        passed = self.queue.wake_at - self.now
        self.now = self.queue.wake_at
        self.take(self.queue.tick(self.now))
        return passed

    def commanded(self, slot: str, wish: Wish) -> bool:
        return isinstance(self.running, StartCommand) and (
            (self.running.slot, self.running.wish) == (slot, wish)
        )

    def results(self) -> dict[str, Result]:
        return {item.operation: item for item in self.told if isinstance(item, Result)}


ON, OFF = Power.ON, Power.OFF


def test_read_command_read() -> None:
    """A power-off reads first, commands once, and ends when a read shows off."""
    hand = Hand()
    hand.order(Wish.OFF)
    assert isinstance(hand.running, StartRead)
    hand.shows(a=ON)
    assert hand.commanded("a", Wish.OFF)
    hand.end(Accepted())
    assert hand.running is None
    assert hand.wake() == pytest.approx(LIMITS.usual_effect)
    hand.shows(a=OFF)
    result = hand.results()["off-a"]
    assert (result.outcome, result.changed, result.power) == (Outcome.SUCCEEDED, True, OFF)
    assert result.commands == 1


def test_the_sighting_is_told_before_the_result() -> None:
    """What was seen reaches the region before what it settled."""
    hand = Hand()
    hand.order(Wish.QUERY)
    hand.shows(a=ON)
    kinds = [type(item) for item in hand.told]
    assert kinds.index(Sighting) < kinds.index(Result)
    assert next(item for item in hand.told if isinstance(item, Sighting)).read == 1


def test_already_so_sends_nothing() -> None:
    """A satisfied wish is success without change."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=OFF)
    assert hand.running is None
    assert not hand.results()["off-a"].changed


def test_commands_of_all_nodes_go_before_confirmations() -> None:
    """Three nodes: read, three commands in the order of arrival, one read."""
    hand = Hand()
    for slot in "abc":
        hand.order(Wish.OFF, slot)
    hand.shows(a=ON)
    assert hand.commanded("a", Wish.OFF)
    hand.end(Accepted())
    hand.shows(a=ON, b=ON, c=ON)
    for slot in "bc":
        assert hand.commanded(slot, Wish.OFF)
        hand.end(Accepted())
    hand.wake()
    hand.shows(a=OFF, b=OFF, c=OFF)
    assert {r.outcome for r in hand.results().values()} == {Outcome.SUCCEEDED}


def test_a_read_that_was_already_sent_settles_nothing_new() -> None:
    """A check joins only reads that begin after it arrived."""
    hand = Hand()
    hand.order(Wish.QUERY, operation="first")
    hand.order(Wish.QUERY, operation="second")
    hand.shows(a=ON)
    assert set(hand.results()) == {"first"}
    hand.shows(a=OFF)
    assert hand.results()["second"].power is OFF


def test_the_same_wish_joins() -> None:
    """Two operations with one wish share one command, and both end."""
    hand = Hand()
    hand.order(Wish.OFF, operation="one")
    hand.shows(a=ON)
    hand.order(Wish.OFF, operation="two")
    hand.end(Accepted())
    hand.wake()
    hand.shows(a=OFF)
    assert {r.outcome for r in hand.results().values()} == {Outcome.SUCCEEDED}
    assert len(hand.results()) == 2


def test_an_order_that_arrives_twice_is_one() -> None:
    """A doubled message changes nothing; after the end it gets the same result again."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.order(Wish.OFF)
    hand.shows(a=OFF)
    hand.order(Wish.OFF)
    assert hand.running is None
    assert [item.outcome for item in hand.told if isinstance(item, Result)] == [
        Outcome.SUCCEEDED,
        Outcome.SUCCEEDED,
    ]


def test_the_opposite_wish_supersedes_a_waiting_one() -> None:
    """On, while off waits for its command: off is superseded, and only on is done."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.order(Wish.ON)
    assert hand.results()["off-a"].outcome is Outcome.SUPERSEDED
    hand.shows(a=ON)
    hand.shows(a=ON)
    assert hand.results()["on-a"].outcome is Outcome.SUCCEEDED
    assert not hand.results()["on-a"].changed


def test_the_opposite_wish_queues_behind_a_command() -> None:
    """On, while off takes effect: off is seen through first, then on is sent."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.end(Accepted())
    hand.order(Wish.ON)
    assert hand.running is None
    hand.wake()
    hand.shows(a=ON)
    hand.wake()
    hand.shows(a=OFF)
    assert hand.results()["off-a"].outcome is Outcome.SUCCEEDED
    assert hand.commanded("a", Wish.ON)
    hand.end(Accepted())
    hand.wake()
    hand.shows(a=ON)
    assert hand.results()["on-a"].changed


def test_a_refused_command_is_sent_again() -> None:
    """Busy: the chassis said that it did not take it; after a pause it is sent again."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.end(BUSY)
    assert hand.closed == 1
    assert 0 < hand.wake() < 1
    while hand.running is None:
        hand.wake()
    assert hand.commanded("a", Wish.OFF)


def test_a_command_of_unknown_fate_waits_for_its_effect_time() -> None:
    """Lost: it is read back, and sent again only after the longest effect time and a read."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.end(LOST)
    answered_at = None
    while not hand.commanded("a", Wish.OFF):
        if hand.running is None:
            hand.wake()
        else:
            hand.shows(a=ON)
            answered_at = answered_at or hand.now
    assert answered_at is not None
    assert hand.now >= answered_at + LIMITS.effect
    hand.end(Accepted())
    hand.wake()
    hand.shows(a=OFF)
    assert hand.results()["off-a"].commands == 2


def test_a_lost_command_that_arrived_is_not_repeated() -> None:
    """Lost after it was accepted: a read shows it, and that is success."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.end(LOST)
    while hand.running is None:
        hand.wake()
    hand.shows(a=OFF)
    assert hand.results()["off-a"].outcome is Outcome.SUCCEEDED
    assert hand.results()["off-a"].commands == 1


def test_an_accepted_command_is_never_repeated() -> None:
    """However long the effect needs: the node is watched until the limit, then timed out."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.end(Accepted())
    while not hand.results():
        if hand.running is None:
            hand.wake()
        else:
            hand.shows(a=ON)
    result = hand.results()["off-a"]
    assert (result.outcome, result.power, result.commands) == (Outcome.TIMED_OUT, ON, 1)
    assert hand.now >= 100 + LIMITS.action


def test_a_new_operation_after_a_timed_out_one_commands_anew() -> None:
    """What an earlier operation sent in vain, longer ago than its effect time, is no reason to wait."""
    hand = Hand()
    hand.order(Wish.OFF, operation="first")
    hand.shows(a=ON)
    hand.end(Accepted())
    while not hand.results():
        if hand.running is None:
            hand.wake()
        else:
            hand.shows(a=ON)
    hand.order(Wish.OFF, operation="second")
    while not hand.commanded("a", Wish.OFF):
        if hand.running is None:
            hand.wake()
        else:
            hand.shows(a=ON)
    assert hand.now - 100 < LIMITS.action + LIMITS.call


def test_two_refused_logins_stop_everything() -> None:
    """Auth: two tries, then nothing until the credentials change; then at once again."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.order(Wish.QUERY, "b")
    hand.end(AUTH)
    assert not hand.results()
    hand.wake()
    hand.end(AUTH)
    assert {r.fault.kind for r in hand.results().values() if r.fault} == {ErrorClass.AUTH}
    assert len(hand.results()) == 2
    hand.order(Wish.QUERY, "c")
    assert hand.results()["query-c"].outcome is Outcome.FAILED
    assert hand.running is None
    hand.take(hand.queue.lease(hand.now, epoch=1, until=1e6, credentials=2))
    hand.order(Wish.QUERY, "d")
    assert isinstance(hand.running, StartRead)


def test_settings_are_not_tried_again() -> None:
    """A read that can't work fails what waits at once."""
    hand = Hand()
    hand.order(Wish.QUERY)
    hand.end(Broke(Fault(ErrorClass.SETTINGS, "no such address"), Fate.NOT_ACCEPTED))
    assert hand.results()["query-a"].fault == Fault(ErrorClass.SETTINGS, "no such address")
    assert any(isinstance(item, Health) and item.fault for item in hand.told)


def test_a_slot_that_is_not_there() -> None:
    """A read without the slot fails its operations with a reason, and no others."""
    hand = Hand()
    hand.order(Wish.OFF, "z")
    hand.shows(a=ON)
    fault = hand.results()["off-z"].fault
    assert fault is not None
    assert (fault.kind, fault.text) == (ErrorClass.SETTINGS, "the chassis has no slot z")


def test_an_unreachable_chassis_is_probed_with_growing_pauses() -> None:
    """Failures in a row: the pauses grow; a check ends with the reason at its limit."""
    hand = Hand()
    hand.order(Wish.QUERY)
    pauses = []
    while not hand.results():
        if hand.running is None:
            pauses.append(hand.wake())
        else:
            hand.end(BUSY, after=0.01)
    assert pauses == sorted(pauses)
    assert len(pauses) < 12
    assert hand.results()["query-a"].fault == BUSY.fault
    faults = [item.fault for item in hand.told if isinstance(item, Health)]
    assert faults == [BUSY.fault]


def test_one_failure_is_no_ill_health() -> None:
    """A single lost connection is not told as an unreachable chassis."""
    hand = Hand()
    hand.order(Wish.QUERY)
    hand.end(LOST)
    hand.wake()
    hand.shows(a=ON)
    assert [item.fault for item in hand.told if isinstance(item, Health)] == [None]


def test_time_in_the_queue_does_not_count() -> None:
    """An operation that waits behind a call of hours is not timed out by it."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.order(Wish.OFF, "b")
    hand.end(Accepted(), after=5000.0)
    hand.shows(b=ON, a=OFF)
    assert hand.commanded("b", Wish.OFF)
    hand.end(Accepted(), after=5000.0)
    hand.wake()
    hand.shows(b=OFF)
    assert {r.outcome for r in hand.results().values()} == {Outcome.SUCCEEDED}


def test_no_call_outlives_the_lease() -> None:
    """A call is not started if its limit reaches past the lease; a renewal lets it go."""
    hand = Hand(until=105.0)
    hand.order(Wish.QUERY)
    assert hand.running is None
    hand.take(hand.queue.lease(hand.now, epoch=1, until=111.0, credentials=1))
    assert isinstance(hand.running, StartRead)


def test_a_new_epoch_drops_orders_and_keeps_the_memory() -> None:
    """Orders of an older lease are dropped; sent again, they meet their own accepted command."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.end(Accepted())
    hand.take(hand.queue.lease(hand.now, epoch=2, until=1e6, credentials=1))
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    assert hand.running is None
    hand.wake()
    hand.shows(a=OFF)
    result = hand.results()["off-a"]
    assert (result.outcome, result.epoch) == (Outcome.SUCCEEDED, 2)


def test_a_new_epoch_during_a_command() -> None:
    """The end of a command whose order was dropped meanwhile is only remembered."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    running, hand.running = hand.running, None
    hand.take(hand.queue.lease(hand.now, epoch=2, until=1e6, credentials=1))
    hand.running = running
    hand.end(Broke(Fault(ErrorClass.REFUSED, "no"), Fate.NOT_ACCEPTED))
    assert not hand.results()


def test_a_remembered_intent_is_not_repeated_in_its_time() -> None:
    """After a restart, a command that may have been sent is watched first."""
    hand = Hand()
    hand.take(
        hand.queue.remember(hand.now, Intent(slot="a", wish=Wish.OFF, sent_at=99.0, operation="x"))
    )
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    assert hand.running is None
    hand.wake()
    hand.shows(a=OFF)
    assert hand.results()["off-a"].outcome is Outcome.SUCCEEDED


def test_an_opposite_command_of_an_earlier_life_may_still_come() -> None:
    """Off is not believed while an on that may have been sent could still take effect."""
    hand = Hand()
    hand.take(
        hand.queue.remember(hand.now, Intent(slot="a", wish=Wish.ON, sent_at=99.0, operation="x"))
    )
    hand.order(Wish.OFF)
    hand.shows(a=OFF)
    assert not hand.results()
    hand.wake()
    hand.shows(a=ON)
    assert hand.commanded("a", Wish.OFF)


def test_another_racks_command_is_waited_for() -> None:
    """An order that another rack may have sent is unsure for that long."""
    hand = Hand()
    hand.order(Wish.OFF, unsure_for=5.0)
    hand.shows(a=ON)
    assert hand.running is None
    while not hand.commanded("a", Wish.OFF):
        if hand.running is None:
            hand.wake()
        else:
            hand.shows(a=ON)
    assert hand.now >= 95.0 + LIMITS.effect


def test_cancel_while_waiting() -> None:
    """A waiting operation ends cancelled at once."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.take(hand.queue.cancel(hand.now, ["off-a", "unknown"]))
    assert hand.results()["off-a"].outcome is Outcome.CANCELLED
    hand.shows(a=ON)
    assert hand.running is None


def test_cancel_after_the_command() -> None:
    """A commanded operation is seen through, and then ends cancelled with what was seen."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.end(Accepted())
    hand.take(hand.queue.cancel(hand.now, ["off-a"]))
    assert not hand.results()
    hand.wake()
    hand.shows(a=OFF)
    result = hand.results()["off-a"]
    assert (result.outcome, result.power) == (Outcome.CANCELLED, OFF)


def test_discovery() -> None:
    """A discovery gets a fresh read of everything, also when one is on its way."""
    hand = Hand()
    hand.order(Wish.QUERY)
    hand.take(hand.queue.discover(hand.now, "t1"))
    hand.shows(a=ON)
    assert not hand.found
    hand.shows(a=ON, b=OFF)
    assert hand.found == [Found("t1", {"a": ON, "b": OFF})]


def test_discovery_of_a_dead_chassis() -> None:
    """A discovery that can't read ends with the reason, after one call limit of trying."""
    hand = Hand()
    hand.take(hand.queue.discover(hand.now, "t1"))
    while not hand.found:
        if hand.running is None:
            hand.wake()
        else:
            hand.end(BUSY)
    assert hand.found == [Found("t1", BUSY.fault)]
    assert hand.now - 100 < LIMITS.call * 3


def test_a_person_before_a_sweep() -> None:
    """Ranks count for commands: a person's wish goes before a sweep's."""
    hand = Hand()
    hand.order(Wish.OFF, "a", rank=Rank.SWEEP)
    hand.order(Wish.OFF, "b")
    hand.shows(a=ON)
    hand.end(Accepted())
    hand.shows(a=ON, b=ON)
    assert hand.commanded("b", Wish.OFF)


def test_the_session_is_closed_when_there_is_no_work() -> None:
    """One session while there is work; closed a little later."""
    hand = Hand()
    hand.order(Wish.QUERY)
    hand.shows(a=ON)
    assert hand.closed == 0
    assert not hand.queue.idle
    hand.wake()
    assert hand.closed == 1
    assert hand.queue.idle


def test_drain() -> None:
    """Stopping: no new command is sent, but what was commanded is seen through."""
    hand = Hand()
    hand.order(Wish.OFF, "a")
    hand.order(Wish.OFF, "b")
    hand.shows(a=ON)
    hand.end(Accepted())
    hand.shows(a=ON, b=ON)
    assert hand.commanded("b", Wish.OFF)
    hand.take(hand.queue.drain(hand.now))
    hand.end(Accepted())
    hand.order(Wish.OFF, "c")
    while not hand.queue.idle:
        if hand.running is None:
            hand.wake()
        else:
            hand.shows(a=OFF, b=OFF, c=ON)
    assert set(hand.results()) == {"off-a", "off-b"}


def test_an_unclear_power_is_no_state() -> None:
    """A slot whose power the chassis does not say: a check fails, an action waits and then fails."""
    hand = Hand()
    hand.order(Wish.QUERY, "a")
    hand.shows(a=Power.UNKNOWN)
    assert hand.results()["query-a"].outcome is Outcome.FAILED
    hand.order(Wish.OFF, "a")
    reads = 0
    while "off-a" not in hand.results():
        if hand.running is None:
            hand.wake()
        else:
            reads += 1
            hand.shows(a=Power.UNKNOWN)
    assert hand.results()["off-a"].outcome is Outcome.FAILED
    assert reads < 40


def test_progress_is_told() -> None:
    """A waiting operation hears its place and expected wait, then started, then commanded."""
    hand = Hand()
    hand.order(Wish.OFF)
    hand.shows(a=ON)
    hand.end(Accepted())
    stages = [item.stage for item in hand.told if isinstance(item, Progress)]
    assert stages == [Stage.WAITING, Stage.STARTED, Stage.COMMANDED]


def test_an_unknown_call_is_a_defect() -> None:
    """The end of a call that is not running raises."""
    hand = Hand()
    with pytest.raises(ValueError, match="not in execution"):
        hand.queue.ended(hand.now, 99, Accepted())
