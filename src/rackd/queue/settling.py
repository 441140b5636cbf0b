"""What a read means for one piece of work: how it ends, or how it goes on. Pure decisions.

A read settles only operations that were there before it began. It is believed only if no command of
ours may still change what it showed.
"""

from enum import Enum, auto, unique

from attrs import frozen

from drivers.interfaces import Limits
from rackd.queue.memory import Sent
from rackd.queue.work import Phase, Work
from switchgear.power import ErrorClass, Fault, Power, Wish


@unique
class Step(Enum):
    """How work goes on after a read that does not end it."""

    COMMAND = auto()
    WATCH = auto()
    STAY = auto()


@frozen
class Reached:
    """It is as was asked."""


@frozen
class TimedOut:
    """It is not so, and the time is over."""

    fault: Fault


@frozen
class Failed:
    """It can't become so."""

    fault: Fault


Verdict = Step | Reached | TimedOut | Failed


def judge(
    work: Work, power: Power | None, began: float, sent: Sent | None, limits: Limits
) -> Verdict:
    """Decide what a read that began at `began` and showed `power` (None: no such slot) means."""
    if power is None:
        return Failed(Fault(ErrorClass.SETTINGS, f"the chassis has no slot {work.slot}"))
    if work.wish is Wish.QUERY:
        return _judge_query(work, power)
    if power is work.wish.power:
        opposite_may_come = (
            sent is not None and sent.wish is not work.wish and sent.may_come(began, limits.effect)
        )
        return Step.STAY if opposite_may_come else Reached()
    if power not in (Power.ON, Power.OFF):
        return _judge_unknown(work, began, limits)
    match work.phase:
        case Phase.NEED_READ:
            ours = sent is not None and sent.wish is work.wish
            coming = sent is not None and sent.may_come(began, limits.effect)
            return Step.WATCH if ours and coming else Step.COMMAND
        case Phase.NEED_COMMAND:
            return Step.STAY
        case Phase.COMMANDED:
            return _judge_commanded(work, power, began, sent, limits)


def _judge_query(work: Work, power: Power) -> Verdict:
    if power in (Power.ON, Power.OFF):
        return Reached()
    return Failed(Fault(ErrorClass.INTERNAL, f"the chassis does not say the power of {work.slot}"))


def _judge_unknown(work: Work, began: float, limits: Limits) -> Verdict:
    if not work.is_over(began, limits):
        return Step.STAY
    return Failed(Fault(ErrorClass.INTERNAL, f"the chassis does not say the power of {work.slot}"))


def _judge_commanded(
    work: Work, power: Power, began: float, sent: Sent | None, limits: Limits
) -> Verdict:
    if work.is_over(began, limits):
        text = f"still {power} {work.limit(limits):g} s after the command"
        return TimedOut(Fault(ErrorClass.TIMED_OUT, text))
    lost = sent is None or (sent.doubtful and not sent.may_come(began, limits.effect))
    return Step.COMMAND if lost else Step.STAY
