"""What the end of an operation means for the life of its node."""

from attrs import evolve, frozen

from regiond.lifecycle.moves import FAILED
from regiond.lifecycle.values import Life
from switchgear.life import Status
from switchgear.operation import Outcome
from switchgear.power import ErrorClass, Fault, Power, Wish

#: Why an `accept` of a node that is on does not succeed.
IS_ON = Fault(ErrorClass.REFUSED, "is on; switch it off first")
#: Why an `accept` of a node whose power could not be told does not succeed.
NOT_TOLD = Fault(ErrorClass.REFUSED, "its chassis did not say whether it is off; check it first")


@frozen(kw_only=True)
class End:
    """How an operation ended. `power` is what was seen then."""

    wish: Wish
    outcome: Outcome
    power: Power
    fault: Fault | None = None


def after(life: Life, end: End, *, moves: bool, accepting: bool) -> Life | None:
    """Return the life after an operation; None if it stays.

    `moves`: it was the operation that the status waited for. `accepting`: someone asked to accept the
    node and waits for this check. A release that was seen off stays `releasing`: see releasing.finish.
    """
    good = end.outcome is Outcome.SUCCEEDED
    match life.status, end.wish:
        case Status.DEPLOYING, Wish.ON if moves:
            status = Status.DEPLOYED if good else Status.FAILED_DEPLOYING
            return evolve(life, status=status, reason=None if good else _why(end))
        case Status.RELEASING | Status.CLEANING, Wish.OFF if moves and not good:
            return evolve(life, status=FAILED[life.status], reason=_why(end))
        case Status.NEW, Wish.QUERY if accepting and accept_problem(end) is None:
            return evolve(life, status=Status.READY)
        case _:
            return None


def accept_problem(end: End) -> Fault | None:
    """Say why a check does not make a new node ready; None if it does."""
    if end.outcome is not Outcome.SUCCEEDED:
        return end.fault or NOT_TOLD
    match end.power:
        case Power.OFF:
            return None
        case Power.ON:
            return IS_ON
        case _:
            return NOT_TOLD


def _why(end: End) -> str:
    return str(end.fault) if end.fault is not None else f"the power-{end.wish} {end.outcome}"
