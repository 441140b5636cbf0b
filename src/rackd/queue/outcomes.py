"""What the end of a call means: for its node, for all that waits, and for the chassis."""

from collections.abc import Mapping
from typing import assert_never

from drivers.interfaces import Fate
from rackd.queue.books import Books, Call, refused
from rackd.queue.health import REPEATABLE
from rackd.queue.settling import Failed, Reached, Step, TimedOut, judge
from rackd.queue.values import Accepted, Answered, Broke, Found, Outcome
from rackd.queue.work import Phase, Work
from switchgear.operation import Outcome as Ending
from switchgear.power import ErrorClass, Fault, Power, Wish
from switchgear.wire.rack import Stage


def settle(books: Books, now: float, call: Call, outcome: Outcome) -> None:
    """Enter the end of a call into the books."""
    match outcome:
        case Answered(powers):
            books.pace.read_took(now - call.began)
            books.last_read = now
            _worked(books, now)
            _after_read(books, now, call, powers)
        case Accepted():
            books.pace.command_took(now - call.began)
            _worked(books, now)
            _after_command(books, now, call)
        case Broke(fault, fate):
            _after_break(books, now, call, fault, fate)
        case _ as never:
            assert_never(never)


def _worked(books: Books, now: float) -> None:
    """The chassis answers: whatever it was given before, it has taken or lost by now."""
    books.condition.worked()
    books.tell.health(None)
    for sent in books.sent.values():
        sent.answered(now)
    for work in books.works.all():
        work.outage_since = None


# ---------------------------------------------------------------- reads


def _after_read(books: Books, now: float, call: Call, powers: Mapping[str, Power]) -> None:
    wanted = {work.slot for work in books.works.active()}
    books.tell.sightings(powers, wanted, call.epoch, call.number, call.began, now)
    _learn(books, call, powers)
    for work in books.works.active():
        _apply(books, call, work, powers.get(work.slot))
    for ticket in [ticket for ticket, mark in books.tickets.items() if mark < call.number]:
        del books.tickets[ticket]
        books.tell.out.append(Found(ticket, dict(powers)))


def _learn(books: Books, call: Call, powers: Mapping[str, Power]) -> None:
    """Forget commands whose effect is shown, and learn how long it took."""
    for slot, sent in list(books.sent.items()):
        if not sent.shown_by(powers.get(slot, Power.UNKNOWN)) or call.began < sent.at:
            continue
        if not sent.doubtful and sent.effect_from is not None:
            work = books.works.head(slot)
            missed = work.missed_at if work is not None else None
            least = max(0.0, (missed or sent.effect_from) - sent.effect_from)
            books.pace.effect_was(least, call.began - sent.effect_from)
            del books.sent[slot]
        elif not sent.may_come(call.began, books.limits.effect):
            del books.sent[slot]


def _apply(books: Books, call: Call, work: Work, power: Power | None) -> None:
    """Do what a read means for work that was there before it; then for the next in its line."""
    settled = [asked for asked in work.asked if asked.mark < call.number]
    if not settled:
        return
    shown = power if power is not None else Power.UNKNOWN
    match judge(work, power, call.began, books.sent.get(work.slot), books.limits):
        case Reached():
            for asked in settled:
                books.end(work, asked, Ending.SUCCEEDED, shown)
            follower = None if work.wish is Wish.QUERY else books.works.head(work.slot)
            if follower is not None and follower is not work:
                _apply(books, call, follower, power)
        case TimedOut(fault):
            books.end_all(work, Ending.TIMED_OUT, shown, fault)
        case Failed(fault):
            books.end_all(work, Ending.FAILED, shown, fault)
        case Step() as step:
            _step(books, call, work, step)
            _end_cancelled(books, call, work, shown)


def _step(books: Books, call: Call, work: Work, step: Step) -> None:
    match step:
        case Step.COMMAND:
            if work.phase is Phase.NEED_READ:
                work.progressed()
            work.phase = Phase.NEED_COMMAND
            books.sent.pop(work.slot, None)
        case Step.WATCH:
            work.phase = Phase.COMMANDED
            work.commands = max(work.commands, 1)
            work.misses, work.missed_at = 1, call.began
        case Step.STAY:
            if work.phase is not Phase.NEED_COMMAND:
                work.misses += 1
                work.missed_at = call.began


def _end_cancelled(books: Books, call: Call, work: Work, shown: Power) -> None:
    """End cancelled operations as soon as nothing of theirs can come any more."""
    sent = books.sent.get(work.slot)
    if sent is not None and sent.may_come(call.began, books.limits.effect):
        return
    for asked in [asked for asked in work.asked if asked.cancelled]:
        books.end(work, asked, Ending.CANCELLED, shown, refused("it was cancelled"))


# ---------------------------------------------------------------- commands


def _after_command(books: Books, now: float, call: Call) -> None:
    work = call.work
    assert work is not None, "only a command is accepted"
    sent = books.sent.get(work.slot)
    if sent is not None:
        sent.accepted(now)
    work.failures = 0
    work.progressed(now)
    for asked in work.asked:
        books.tell.progress(asked, Stage.COMMANDED)


# ---------------------------------------------------------------- failures


def _after_break(books: Books, now: float, call: Call, fault: Fault, fate: Fate) -> None:
    books.close()
    concerns_all = fault.kind in REPEATABLE or fault.kind is ErrorClass.AUTH
    if concerns_all:
        books.condition.failed(fault, call.began, now, books.credentials)
    if call.work is not None:
        _after_broken_command(books, now, call, call.work, fate)
        if not concerns_all:
            books.end_all(call.work, Ending.FAILED, Power.UNKNOWN, fault)
    elif not concerns_all:
        books.tell.health(fault)
        books.fail_everything(fault)
    if books.condition.fault is not None:
        books.tell.health(books.condition.fault)
    books.fail_if_locked()
    if concerns_all:
        _judge_outage(books, now, call, fault)


def _after_broken_command(books: Books, now: float, call: Call, work: Work, fate: Fate) -> None:
    """A command of unknown fate is watched; one that surely did not arrive waits for its next try."""
    work.failures += 1
    work.not_before = now + books.pace.pause(work.failures)
    if fate is Fate.UNKNOWN:
        return
    work.commands -= 1
    work.phase = Phase.NEED_COMMAND
    if call.before is None:
        books.sent.pop(work.slot, None)
    else:
        books.sent[work.slot] = call.before
    for asked in [asked for asked in work.asked if asked.cancelled]:
        books.end(work, asked, Ending.CANCELLED, Power.UNKNOWN, refused("it was cancelled"))


def _judge_outage(books: Books, now: float, call: Call, fault: Fault) -> None:
    """A failed call is an attempt for all that waits; end what was without progress for too long."""
    for work in list(books.works.all()):
        if work.outage_since is None:
            work.outage_since = call.began
        if work.is_over(call.began, books.limits):
            books.end_all(work, Ending.FAILED, Power.UNKNOWN, fault)
    if now - books.condition.failing_since >= books.limits.call:
        books.fail_tickets(fault)
