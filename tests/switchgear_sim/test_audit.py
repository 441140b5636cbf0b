"""The judge's arithmetic, on logs written by hand."""

from typing import Any

import pytest

from switchgear_sim.sm15k.audit import Entry, figures
from switchgear_sim.sm15k.deck import FaultKind
from switchgear_sim.sm15k.model import Transition


class Log:
    """Writes requests one after the other, each of a given service time."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.now = 100.0

    def add(self, service: float, **known: Any) -> None:
        start, self.now = self.now, self.now + service
        fields = {"connection": 1, "method": "GET", "path": "/v2.0/servers", "status": 200, **known}
        self.entries.append(
            Entry(number=len(self.entries) + 1, started=start, ended=self.now, **fields)
        )

    def read(self, service: float = 0.1, fault: FaultKind | None = None, **shown: bool) -> None:
        self.add(service, fault=fault, shown=None if fault else shown)

    def off(self, slot: str, service: float = 0.2, **known: Any) -> None:
        self.add(service, method="PUT", slot=slot, wish=False, **known)


def judged(log: Log, *off: tuple[str, float]) -> dict[str, Any]:
    """Return the figures when these slots went off at these times."""
    return figures(log.entries, [Transition(slot, False, at) for slot, at in off], 3.0)


def test_a_perfect_act_meets_its_bound() -> None:
    """One read, one command a node, the effect, one read: nothing is left out and nothing added."""
    log = Log()
    log.read(a=True, b=True)
    log.off("a")
    log.off("b")
    log.now += 3.0
    log.read(a=False, b=False)
    act = judged(log, ("a", 102.0), ("b", 103.0))
    assert act["seconds"] == pytest.approx(0.1 + 0.4 + 3.0 + 0.1)
    assert act["serial_bound_seconds"] == pytest.approx(act["seconds"])
    assert act["requests_per_node_mean"] == 2.0
    assert (act["commands"], act["commands_per_node_max"], act["unneeded_commands"]) == (2, 1, 0)
    assert (act["transitions_off"], act["transitions_on"]) == (2, 0)


def test_more_reads_do_not_raise_the_bound() -> None:
    """Whoever asks more often than needed pays for it."""
    log = Log()
    for _ in range(5):
        log.read(a=True)
    log.off("a")
    for _ in range(5):
        log.read(a=True)
    log.read(a=False)
    assert judged(log, ("a", 101.0))["serial_bound_seconds"] == pytest.approx(0.1 + 0.2 + 0.1 + 3)


def test_a_lost_command_allows_its_repeat() -> None:
    """A command that a fault lost is repeated, with one more read and effect; it counts as no request."""
    log = Log()
    log.read(a=True)
    log.off("a", fault=FaultKind.HTTP_500, status=500)
    log.read(a=True)
    log.off("a")
    log.read(a=False)
    act = judged(log, ("a", 100.9))
    assert act["serial_bound_seconds"] == pytest.approx(0.1 + 0.4 + 0.1 + 3 + 0.1 + 3)
    assert act["requests_per_node_mean"] == 4.0
    assert act["requests_per_node_raw"] == 5.0
    assert act["faults"]["http_500"] == 1


def test_a_needless_repeat_is_not_in_the_bound() -> None:
    """A second command whose first was answered counts as two commands and not in the bound."""
    log = Log()
    log.read(a=True)
    log.off("a")
    log.off("a", unneeded=True)
    log.read(a=False)
    act = judged(log, ("a", 100.6))
    assert act["serial_bound_seconds"] == pytest.approx(0.1 + 0.2 + 0.1 + 3)
    assert (act["commands_per_node_max"], act["unneeded_commands"]) == (2, 1)


def test_faulted_first_and_last_reads_count_with_their_repeats() -> None:
    """Attempts that a fault hit are time that nobody could have saved."""
    log = Log()
    log.read(0.5, fault=FaultKind.DROPPED_BEFORE)
    log.read(0.1, a=True)
    log.off("a")
    log.read(4.0, fault=FaultKind.DROPPED_AFTER)
    log.read(0.1, a=False)
    act = judged(log, ("a", 100.9))
    assert act["serial_bound_seconds"] == pytest.approx(0.5 + 0.1 + 0.2 + 4.0 + 0.1 + 3)


def test_the_end_is_when_the_last_node_was_shown() -> None:
    """An act ends with the first read that shows the last node, and not before its transition."""
    log = Log()
    log.read(a=True, b=True)
    log.off("a")
    log.off("b")
    log.read(a=False, b=True)
    log.read(a=False, b=False)
    log.read(5.0, a=False, b=False)
    act = judged(log, ("a", 100.4), ("b", 100.65))
    assert act["seconds"] == pytest.approx(0.1 + 0.4 + 0.1 + 0.1)


def test_what_was_never_shown_has_no_end() -> None:
    """A node that changed, but was not read after it, leaves the act without seconds."""
    log = Log()
    log.read(a=True)
    log.off("a")
    assert judged(log, ("a", 101.0))["seconds"] is None


def test_an_empty_act() -> None:
    """No requests: zeros, and no division by zero."""
    act = figures([], [], 3.0)
    assert (act["requests"], act["seconds"], act["requests_per_node_mean"]) == (0, None, 0.0)
