"""What to do next on a chassis, as a pure choice: read, command, or wait until when.

Commands go first: they are sent for all nodes that wait, one after the other. A read comes before the
next command only if somebody waits for one and it is cheap: reads between commands may take a tenth of
the time. So a chassis whose answers take 30 s is read twice for 64 releases, and a quick one often.

When only confirmations are left, the read waits for the last node that is due, if waiting costs less
than reading twice would.
"""

from collections.abc import Sequence

from attrs import frozen

from rackd.queue.memory import Sent
from rackd.queue.pace import Pace
from rackd.queue.work import Phase, Work


@frozen
class ReadNext:
    """Read the chassis now."""


@frozen
class CommandNext:
    """Send this work's command now."""

    work: Work


@frozen
class WaitUntil:
    """Nothing to do before then; None: not before something happens."""

    at: float | None


#: A node that is due within so many read times is waited for, rather than read for once more.
WORTH_WAITING = 3.0

Choice = ReadNext | CommandNext | WaitUntil


@frozen(kw_only=True)
class Situation:
    """All that the choice depends on. `asked_to_read`: discoveries wait."""

    now: float
    active: Sequence[Work]
    sent: dict[str, Sent]
    pace: Pace
    last_read: float
    asked_to_read: bool


def choose(situation: Situation) -> Choice:
    """Decide. Calls in execution, pauses and the lease are for the caller to check before."""
    now, pace = situation.now, situation.pace
    commands = [work for work in situation.active if work.phase is Phase.NEED_COMMAND]
    ready = [work for work in commands if work.not_before <= now]
    dues = sorted(
        due for due in (due_at(w, situation) for w in situation.active) if due is not None
    )
    newcomer = situation.asked_to_read or _newcomer(situation)
    if ready:
        wanted = newcomer or (bool(dues) and dues[0] <= now)
        if wanted and pace.is_cheap(now - situation.last_read):
            return ReadNext()
        return CommandNext(min(ready, key=lambda work: work.order_key(now)))
    if newcomer:
        return ReadNext()
    read_at = _confirm_at(dues, situation)
    if read_at is not None and read_at <= now:
        return ReadNext()
    times = [work.not_before for work in commands]
    return WaitUntil(min([*times, *([read_at] if read_at is not None else [])], default=None))


def _newcomer(situation: Situation) -> bool:
    """Tell whether some work waits for a read as soon as there can be one."""
    return any(
        work.phase is not Phase.NEED_COMMAND and due_at(work, situation) is None
        for work in situation.active
    )


def due_at(work: Work, situation: Situation) -> float | None:
    """Return when a read is worth while for work that waits for an effect; None for all other work."""
    pace, sent = situation.pace, situation.sent.get(work.slot)
    look = work.missed_at + pace.gap_after(work.misses) if work.missed_at is not None else None
    ends = sent.effect_ends(pace.limits.effect) if sent is not None else None
    if work.phase is Phase.NEED_COMMAND or sent is None:
        return look if work.phase is not Phase.NEED_COMMAND else None
    if work.phase is Phase.NEED_READ:
        # An opposite command may still take effect: nothing is certain before its time is over.
        return max(look, ends) if look is not None and ends is not None else look
    if sent.doubtful and ends is not None and pace.limits.effect <= 2 * pace.usual_effect:
        return ends
    begun = sent.at if ends is None else ends - pace.limits.effect
    due = look if look is not None else begun + pace.usual_effect
    return min(due, ends) if sent.doubtful and ends is not None and ends > situation.now else due


def _confirm_at(dues: Sequence[float], situation: Situation) -> float | None:
    """Choose one read for many nodes that are due at different times."""
    if not dues:
        return None
    pace = situation.pace
    first = max(dues[0], situation.last_read + pace.gap, situation.now)
    return max(first, *(due for due in dues if due <= first + WORTH_WAITING * pace.read_now), 0.0)
