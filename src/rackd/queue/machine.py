"""The chassis queue itself: an input changes the books, one choice is made, and actions come out.

Every input takes `now`, in seconds of a monotonic clock, and returns what is to be done, in order. The
caller makes one call at a time, tells its end with `ended`, and calls `tick` at `wake_at`.
"""

from collections.abc import Callable, Sequence
from math import inf

from drivers.interfaces import Limits
from rackd.queue.books import Books, Call, refused
from rackd.queue.health import Condition
from rackd.queue.memory import Sent
from rackd.queue.outcomes import settle
from rackd.queue.pace import Pace
from rackd.queue.planning import CommandNext, ReadNext, Situation, WaitUntil, choose
from rackd.queue.telling import Teller
from rackd.queue.values import Action, Intent, Outcome, StartCommand, StartRead
from rackd.queue.work import Phase, Work
from switchgear.operation import Outcome as Ending
from switchgear.power import ErrorClass, Fault, Power, Wish
from switchgear.wire.rack import Order, Stage

#: Seconds that a session is kept without work, and between two tellings of the places in the queue.
LINGER = 2.0
PLACES_EVERY = 5.0


class ChassisQueue:
    """Orders, joins and batches the work of one chassis. `chance` gives jitter, as `random.random`."""

    def __init__(self, *, chassis: str, limits: Limits, chance: Callable[[], float]) -> None:
        pace = Pace(limits, chance)
        self._books = Books(limits, pace, Teller(chassis), Condition(pace))
        self._idle_since: float | None = None
        self._places_told = -inf
        self._wake_at: float | None = None

    @property
    def wake_at(self) -> float | None:
        """Return when `tick` is wanted next; None: not before another input."""
        return self._wake_at

    @property
    def read_mark(self) -> int:
        """Return the number of the last read that began."""
        return self._books.reads

    @property
    def idle(self) -> bool:
        """Tell whether nothing runs and nothing is left to do (while draining: to confirm)."""
        books = self._books
        left = bool(books.works)
        if books.draining:
            left = any(work.phase is Phase.COMMANDED for work in books.works.heads())
        return books.running is None and not left and not books.tickets and not books.is_open

    # ------------------------------------------------------------------ inputs

    def use(self, limits: Limits) -> None:
        """Go by other limits from now on."""
        self._books.limits = self._books.pace.limits = limits

    def lease(self, now: float, *, epoch: int, until: float, credentials: int) -> list[Action]:
        """Take a granted or renewed lease. A new epoch drops all orders: the region sends them again."""
        books = self._books
        books.until = until
        if epoch != books.epoch:
            books.epoch = epoch
            books.works.forget()
            books.tell.new_epoch(epoch)
        if credentials != books.credentials:
            books.credentials = credentials
            books.condition.new_credentials()
        return self._go_on(now)

    def remember(self, now: float, intent: Intent) -> list[Action]:
        """Learn of a command that an earlier life may have sent."""
        self._books.sent[intent.slot] = Sent(intent.wish, intent.sent_at)
        return self._go_on(now)

    def submit(self, now: float, orders: Sequence[Order]) -> list[Action]:
        """Take orders. One that is known is not taken twice; one that ended is answered again."""
        books = self._books
        for order in orders:
            if order.operation not in books.works and not books.tell.again(order.operation):
                self._take(now, order)
        books.fail_if_locked()
        self._tell_places(now)
        return self._go_on(now)

    def cancel(self, now: float, operations: Sequence[str]) -> list[Action]:
        """End waiting operations; those whose command was sent end when its effect is known."""
        for operation in operations:
            found = self._books.works.find(operation)
            if found is None:
                continue
            work, asked = found
            if work.phase is Phase.COMMANDED:
                asked.cancelled = True
            else:
                fault = refused("it was cancelled")
                self._books.end(work, asked, Ending.CANCELLED, Power.UNKNOWN, fault)
        return self._go_on(now)

    def discover(self, now: float, ticket: str) -> list[Action]:
        """Read the chassis afresh for a discovery."""
        self._books.tickets.setdefault(ticket, self._books.reads)
        self._books.fail_if_locked()
        return self._go_on(now)

    def tick(self, now: float) -> list[Action]:
        """Time has passed."""
        return self._go_on(now)

    def drain(self, now: float) -> list[Action]:
        """Stop: start no new work, only see through what was commanded."""
        self._books.draining = True
        self._books.fail_tickets(Fault(ErrorClass.BUSY, "the rack stops; try again"))
        return self._go_on(now)

    def ended(self, now: float, call: int, outcome: Outcome) -> list[Action]:
        """Take the end of a call: its thread has returned. Raises ValueError if it is not running."""
        running = self._books.running
        if running is None or running.call != call:
            raise ValueError(f"call {call} is not in execution")
        self._books.running = None
        settle(self._books, now, running, outcome)
        return self._go_on(now)

    # ------------------------------------------------------------------ what is next

    def _take(self, now: float, order: Order) -> None:
        books = self._books
        if order.unsure_for is not None and order.wish is not Wish.QUERY:
            sent = Sent(order.wish, now - order.unsure_for, effect_from=now - order.unsure_for)
            books.sent.setdefault(order.slot, sent)
        for work, asked in books.works.add(order, books.reads, now):
            fault = refused(f"{order.wish} was asked for meanwhile")
            books.tell.result(work, asked, Ending.SUPERSEDED, Power.UNKNOWN, fault)

    def _go_on(self, now: float) -> list[Action]:
        """Choose, start, and say when to look again."""
        self._wake_at = None
        if self._books.running is None:
            self._start_next(now)
        if now - self._places_told >= PLACES_EVERY:
            self._tell_places(now)
        return self._books.tell.take()

    def _start_next(self, now: float) -> None:
        books, situation = self._books, self._situation(now)
        if not situation.active and not situation.asked_to_read:
            self._linger(now)
            return
        self._idle_since = None
        if now < books.condition.paused_until:
            self._wake_at = books.condition.paused_until
            return
        match choose(situation):
            case WaitUntil(at):
                self._wake_at = at
            case _ if now + books.limits.call > books.until:
                self._wake_at = None  # only a longer lease allows a call, and it comes as an input
            case ReadNext():
                self._start_read(now)
            case CommandNext(work):
                self._start_command(now, work)

    def _situation(self, now: float) -> Situation:
        books, active = self._books, self._books.works.active()
        if books.draining:
            active = [work for work in active if work.phase is Phase.COMMANDED]
        return Situation(
            now=now,
            active=active,
            sent=books.sent,
            pace=books.pace,
            last_read=books.last_read,
            asked_to_read=bool(books.tickets),
        )

    def _start_read(self, now: float) -> None:
        books = self._books
        books.reads += 1
        call = self._new_call(now, number=books.reads)
        for work in books.works.active():
            if work.phase is not Phase.NEED_COMMAND:
                self._begin(work, now)
        start = StartRead(call=call.call, number=call.number, limit=books.limits.call)
        books.tell.out.append(start)

    def _start_command(self, now: float, work: Work) -> None:
        books = self._books
        call = self._new_call(now, work=work, before=books.sent.get(work.slot))
        books.sent[work.slot] = Sent(work.wish, now)
        work.phase = Phase.COMMANDED
        work.commands += 1
        work.misses, work.missed_at = 0, None
        self._begin(work, now)
        start = StartCommand(
            call=call.call,
            slot=work.slot,
            wish=work.wish,
            limit=books.limits.call,
            operation=work.asked[0].operation,
        )
        books.tell.out.append(start)

    def _new_call(
        self, now: float, number: int = 0, work: Work | None = None, before: Sent | None = None
    ) -> Call:
        books = self._books
        books.calls += 1
        books.is_open = True
        books.running = Call(books.calls, now, books.epoch, number, work, before)
        return books.running

    def _begin(self, work: Work, now: float) -> None:
        if not work.began:
            for asked in work.asked:
                self._books.tell.progress(asked, Stage.STARTED)
        work.attempted(now)

    def _linger(self, now: float) -> None:
        """Keep the session a little while without work, then close it."""
        if not self._books.is_open:
            return
        if self._idle_since is None:
            self._idle_since = now
        if self._books.draining or now >= self._idle_since + LINGER:
            self._books.close()
            self._idle_since = None
        else:
            self._wake_at = self._idle_since + LINGER

    def _tell_places(self, now: float) -> None:
        """Tell those who wait where they stand and how long it may take."""
        self._places_told = now
        pace = self._books.pace
        waiting = [w for w in self._books.works.active() if w.phase is not Phase.COMMANDED]
        waiting.sort(key=lambda work: work.order_key(now))
        for place, work in enumerate(waiting, start=1):
            wait = round(pace.read + (place - 1) * pace.command, 3)
            for asked in work.asked:
                self._books.tell.progress(asked, Stage.WAITING, place, wait)
