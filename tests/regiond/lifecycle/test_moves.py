import pytest

from regiond.lifecycle.moves import FAILED, RELEASABLE, decide
from regiond.lifecycle.values import (
    Decision,
    Done,
    Facts,
    Follow,
    Life,
    Move,
    Operate,
    Refused,
    Wanted,
)
from switchgear.life import PASSING, Status, Verb
from switchgear.power import Power, Wish


def ask(
    verb: Verb,
    status: Status,
    *,
    before: Status | None = None,
    power: Power = Power.OFF,
    off: bool = True,
) -> Decision:
    """Ask for a verb on a node of this status, which juju owns."""
    life = Life(status=status, before=before, owner="juju", reason="why")
    wanted = Wanted(verb=verb, owner="maas", reason="smoke", power_off=off)
    return decide(wanted, Facts(life=life, power=power))


def reached(decision: Decision) -> tuple[str, Wish | None]:
    """Write a decision as one word and the wish that goes with it."""
    match decision:
        case Move(life, wish):
            return life.status.value, wish
        case Operate(wish):
            return "stays", wish
        case other:
            return type(other).__name__.lower(), None


#: Every verb on every status: the status that is moved to, or what else happens.
TABLE = {
    Verb.ACCEPT: {Status.NEW: "stays", Status.READY: "done"},
    Verb.ALLOCATE: {Status.READY: "allocated"},
    Verb.DEPLOY: {
        Status.ALLOCATED: "deploying",
        Status.FAILED_DEPLOYING: "deploying",
        Status.DEPLOYING: "follow",
        Status.DEPLOYED: "done",
    },
    Verb.RELEASE: {
        **dict.fromkeys(RELEASABLE, "releasing"),
        Status.READY: "done",
        Status.RELEASING: "follow",
        Status.CLEANING: "follow",
    },
    Verb.MARK_BROKEN: {**dict.fromkeys(Status, "broken"), Status.BROKEN: "stays"},
    Verb.MARK_FIXED: {Status.BROKEN: "new"},
    Verb.QUERY: dict.fromkeys(Status, "stays"),
    Verb.ON: {
        **dict.fromkeys(Status, "stays"),
        Status.RELEASING: "refused",
        Status.CLEANING: "refused",
    },
    Verb.OFF: {**dict.fromkeys(Status, "stays"), Status.DEPLOYING: "refused"},
}


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("status", Status)
def test_every_verb_on_every_status(verb: Verb, status: Status) -> None:
    """Each verb moves exactly the statuses that the table names, and refuses all others with a text."""
    decision = ask(verb, status)
    assert reached(decision)[0] == TABLE[verb].get(status, "refused")
    if isinstance(decision, Refused):
        assert status in decision.text


def test_release_keeps_the_owner_and_asks_for_off() -> None:
    """While a node is releasing it still has its owner; off is asked for."""
    assert ask(Verb.RELEASE, Status.DEPLOYED) == Move(
        Life(status=Status.RELEASING, owner="juju"), Wish.OFF
    )


def test_mark_broken_remembers_and_powers_off_unless_told_not_to() -> None:
    """The status before and the owner are kept; the power-off can be left out."""
    broken = Life(status=Status.BROKEN, before=Status.DEPLOYED, owner="juju", reason="smoke")
    assert ask(Verb.MARK_BROKEN, Status.DEPLOYED) == Move(broken, Wish.OFF)
    assert ask(Verb.MARK_BROKEN, Status.DEPLOYED, off=False) == Move(broken)
    assert ask(Verb.MARK_BROKEN, Status.BROKEN, off=False) == Done()


@pytest.mark.parametrize("before", [status for status in Status if status is not Status.BROKEN])
def test_mark_fixed_gives_back_what_was(before: Status) -> None:
    """The status of before comes back with the owner; a passing one as its failed one, with a reason."""
    decision = ask(Verb.MARK_FIXED, Status.BROKEN, before=before)
    assert isinstance(decision, Move)
    assert decision.life.status is FAILED.get(before, before)
    assert decision.life.owner == "juju"
    assert (decision.life.reason is not None) is (before in PASSING)


def test_mark_fixed_never_makes_a_node_ready_that_is_on() -> None:
    """A node that was ready and is on stays broken; unknown power is no obstacle."""
    assert isinstance(
        ask(Verb.MARK_FIXED, Status.BROKEN, before=Status.READY, power=Power.ON), Refused
    )
    assert reached(
        ask(Verb.MARK_FIXED, Status.BROKEN, before=Status.READY, power=Power.UNKNOWN)
    ) == (
        "ready",
        None,
    )


def test_following_begins_nothing() -> None:
    """What is on its way already is not begun again."""
    assert ask(Verb.RELEASE, Status.RELEASING) == Follow()
