"""The story: 64 nodes of one chassis are released at once, with the faults and times of the demo."""

from random import Random

import pytest

from drivers.interfaces import Limits
from rackd.queue import Intent, StartCommand
from switchgear.operation import Outcome
from switchgear.power import Power, Wish
from switchgear_sim.sm15k.deck import FaultKind
from switchgear_sim.sm15k.knobs import Knobs
from tests.rackd.queue.play import QUIET, Play, all_slots


@pytest.mark.parametrize("seed", range(40))
def test_64_at_once(seed: int) -> None:
    """All reach off: no needless command, one session, few requests, near the serial bound."""
    play = Play(knobs=Knobs(), seed=seed)
    play.order(*all_slots())
    play.run()
    figures = play.figures()
    assert [r.outcome for r in play.results.values()] == [Outcome.SUCCEEDED] * 64
    assert figures["transitions_off"] == 64
    assert figures["unneeded_commands"] == 0
    assert figures["refused_parallel"] == 0
    assert figures["max_sessions"] == 1
    assert figures["requests_per_node_mean"] <= 1.5
    # The bound leaves out what a fault made slow between the first and the last read.
    reads = [entry for entry in play.chassis.log if entry.is_read][1:-1]
    slow = sum(entry.service for entry in reads if entry.fault is FaultKind.SLOW)
    assert figures["seconds"] - slow <= 1.25 * figures["serial_bound_seconds"]
    assert play.queue.idle


def test_slow_chassis_of_case_3() -> None:
    """Reads of 30 s and commands of 2 s: within 1.2 of the serial time of 188 s."""
    knobs = Knobs(
        drop_rate=0, error_rate=0, slow_rate=0, read_service=(30, 30), command_service=(2, 2)
    )
    play = Play(knobs=knobs, limits=Limits(call=40, action=300, effect=120, usual_effect=3))
    play.order(*all_slots())
    play.run()
    assert {r.outcome for r in play.results.values()} == {Outcome.SUCCEEDED}
    figures = play.figures()
    assert figures["seconds"] <= 1.2 * 188
    assert figures["reads"] == 2


@pytest.mark.parametrize("seed", range(25))
def test_a_killed_rack_goes_on(seed: int) -> None:
    """kill -9 in the middle, with a journal: no node gets a second command that it did not need."""
    play = Play(knobs=Knobs(), seed=seed)
    play.order(*all_slots())
    play.run(Random(seed).uniform(0.5, 9))
    intents = [
        Intent(slot=c.slot, wish=c.wish, sent_at=play.now - 100, operation=c.operation)
        for c in play.calls
        if isinstance(c, StartCommand)
    ]
    done = set(play.results)
    execution = play.chassis.executing
    if execution is not None:
        play.chassis.finish(play.now, execution)
    play.close()
    play.now += 1.0
    play.start_rack(epoch=2)
    for intent in intents:
        play.do(play.queue.remember(play.now, intent))
    play.order(*[slot for slot in all_slots() if f"off-{slot}" not in done])
    play.run()
    figures = play.figures()
    assert {r.outcome for r in play.results.values()} == {Outcome.SUCCEEDED}
    assert len(play.results) == 64
    assert figures["unneeded_commands"] == 0
    assert figures["transitions_off"] == 64


def test_all_off_already_costs_one_read() -> None:
    """An already-satisfied wish sends nothing: 64 of them cost one request."""
    play = Play(initial=False)
    play.order(*all_slots())
    play.run()
    assert play.figures()["requests"] == 1
    assert {(r.outcome, r.changed) for r in play.results.values()} == {(Outcome.SUCCEEDED, False)}


def test_64_checks_cost_one_request() -> None:
    """Every check that waits joins one read, and twenty presses of one button too."""
    play = Play()
    play.order(*all_slots(), wish=Wish.QUERY)
    for press in range(20):
        play.order("7/0", wish=Wish.QUERY, prefix=f"{press}-")
    play.run()
    assert play.figures()["requests"] <= 2
    assert len(play.results) == 84
    assert {r.power for r in play.results.values()} == {Power.ON}


def test_case_1_off_is_accepted_and_shows_late() -> None:
    """Case 1: on for 20 s after the command; a check in between tells on and ends nothing."""
    play = Play(
        knobs=Knobs(drop_rate=0, error_rate=0, slow_rate=0, off_effect=(20, 20)),
        limits=Limits(call=40, action=300, effect=120, usual_effect=3),
    )
    play.order("0/0")
    play.run(1.0)
    play.order("0/0", wish=Wish.QUERY)
    play.run(2.0)
    assert play.result("0/0", Wish.QUERY).power is Power.ON
    assert "off-0/0" not in play.results
    play.run()
    assert play.result("0/0").outcome is Outcome.SUCCEEDED
    assert 20 <= play.ended_at("off-0/0") - 1000 <= 31
    assert play.figures()["commands"] == 1


def test_case_1_variant_never_off() -> None:
    """Case 1, variant: still on at the limit: timed out, power on, never success."""
    knobs = Knobs(drop_rate=0, error_rate=0, slow_rate=0, never_off=frozenset({"0/0"}))
    play = Play(knobs=knobs, limits=Limits(call=40, action=120, effect=60, usual_effect=3))
    play.order("0/0", "1/0")
    play.run()
    result = play.result("0/0")
    assert (result.outcome, result.power) == (Outcome.TIMED_OUT, Power.ON)
    assert result.fault is not None
    assert 120 <= play.ended_at("off-0/0") - 1000 <= 135
    assert play.result("1/0").outcome is Outcome.SUCCEEDED
    assert play.ended_at("off-1/0") - 1000 < 8
    assert play.figures()["commands_per_node_max"] == 1


def test_one_node_that_always_fails_delays_nobody() -> None:
    """Case 10: a node whose commands always break off ends with a reason; the others are quick."""
    play = Play(renamed={"1/0": "99/0"})
    play.order(*all_slots(9))
    play.run()
    assert play.result("1/0").outcome is Outcome.FAILED
    others = [play.ended_at(f"off-{slot}") for slot in all_slots(9) if slot != "1/0"]
    assert max(others) - 1000 < 7


def test_quiet_chassis_needs_no_second_session() -> None:
    """A whole act uses one login, and the session is closed after it."""
    play = Play(knobs=QUIET)
    play.order(*all_slots())
    play.run()
    assert play.figures()["logins"] == 1
    assert play.closes == 1


def test_a_chassis_that_turned_slow_is_not_read_more_than_needed() -> None:
    """Case 3 on a chassis that was quick before: the first slow answer is enough to learn from."""
    play = Play(limits=Limits(call=40, action=300, effect=120, usual_effect=3))
    for round_ in range(8):
        play.order("0/0", wish=Wish.QUERY, prefix=f"{round_}-")
        play.run(60)
    play.chassis.start_act("slow", play.now)
    play.chassis.knobs = Knobs(
        drop_rate=0, error_rate=0, slow_rate=0, read_service=(30, 30), command_service=(2, 2)
    )
    play.order(*all_slots())
    play.run()
    figures = play.figures()
    assert figures["seconds"] <= 1.2 * 188
    assert figures["reads"] == 2
