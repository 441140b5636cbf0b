import pytest

from regiond.lifecycle.ends import End, accept_problem, after
from regiond.lifecycle.values import Life
from switchgear.life import Status
from switchgear.operation import Outcome
from switchgear.power import ErrorClass, Fault, Power, Wish

FAULT = Fault(ErrorClass.TIMED_OUT, "it never went off")
BAD = [outcome for outcome in Outcome if outcome is not Outcome.SUCCEEDED]


def end(wish: Wish, outcome: Outcome = Outcome.SUCCEEDED, power: Power = Power.OFF) -> End:
    """Build the end of an operation; a bad one has a fault."""
    return End(
        wish=wish,
        outcome=outcome,
        power=power,
        fault=None if outcome is Outcome.SUCCEEDED else FAULT,
    )


def life(status: Status) -> Life:
    """Build the life of an owned node."""
    return Life(status=status, owner="juju")


def moved(
    status: Status, ending: End, *, moves: bool = True, accepting: bool = False
) -> Life | None:
    """Let an operation end on a node of this status."""
    return after(life(status), ending, moves=moves, accepting=accepting)


def test_a_deployed_node_was_seen_on() -> None:
    """The success of the power-on that a deploy waits for makes the node deployed."""
    assert moved(Status.DEPLOYING, end(Wish.ON)) == life(Status.DEPLOYED)


@pytest.mark.parametrize("outcome", BAD)
@pytest.mark.parametrize(
    ("status", "wish", "failed"),
    [
        (Status.DEPLOYING, Wish.ON, Status.FAILED_DEPLOYING),
        (Status.RELEASING, Wish.OFF, Status.FAILED_RELEASING),
        (Status.CLEANING, Wish.OFF, Status.FAILED_CLEANING),
    ],
)
def test_a_failure_keeps_the_owner_and_says_why(
    status: Status, wish: Wish, failed: Status, outcome: Outcome
) -> None:
    """Any other end of what a passing status waits for is its failed status, with the reason."""
    found = moved(status, end(wish, outcome))
    assert found == Life(status=failed, owner="juju", reason="timed-out: it never went off")


def test_a_failure_without_a_fault_still_has_a_reason() -> None:
    """The reason names what was asked and how it ended."""
    found = after(
        life(Status.RELEASING),
        End(wish=Wish.OFF, outcome=Outcome.CANCELLED, power=Power.UNKNOWN),
        moves=True,
        accepting=False,
    )
    assert found is not None
    assert found.reason == "the power-off cancelled"


def test_a_release_that_was_seen_off_waits_to_be_finished() -> None:
    """The end of the power-off alone does not make a node ready: addresses and owner come first."""
    assert moved(Status.RELEASING, end(Wish.OFF)) is None


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("wish", Wish)
def test_an_operation_that_no_status_waits_for_moves_nothing(status: Status, wish: Wish) -> None:
    """A power command or a check by hand leaves every status alone, however it ends."""
    for outcome in Outcome:
        assert moved(status, end(wish, outcome), moves=False) is None


def test_only_a_check_that_shows_off_makes_a_new_node_ready() -> None:
    """On, unknown, and a failed check leave a new node new, each with its reason."""
    good = end(Wish.QUERY)
    assert moved(Status.NEW, good, moves=False, accepting=True) == life(Status.READY)
    assert accept_problem(good) is None
    for bad in (
        end(Wish.QUERY, power=Power.ON),
        end(Wish.QUERY, power=Power.UNKNOWN),
        end(Wish.QUERY, Outcome.FAILED),
    ):
        assert moved(Status.NEW, bad, moves=False, accepting=True) is None
        assert accept_problem(bad) is not None
