"""What to do next, decided from the books alone: wake, grow, help, or fail the youngest.

Pure: every decision is a booking and an order in `books.orders`. Tests step it without threads.
"""

from collections.abc import Callable

from .accounts import Accounts
from .entry import Entry, Phase, Wait
from .episode import Episode
from .errors import StarvationError
from .orders import Warn
from .picture import StackOf, picture
from .stuck import Certainty, plainly_moving, stuck


def _no_stacks() -> StackOf:
    return lambda _entry: ""


class Decisions:
    """The ladder of one pool: descendants first, grow, help, last fail the youngest that waits."""

    def __init__(self, books: Accounts, stacks: Callable[[], StackOf] = _no_stacks) -> None:
        self.books = books
        self._stacks = stacks
        self.episode = Episode(books.settings.quiet)
        self.watch()

    def settle(self) -> None:
        """Bring everything to rest after a booking: no admissible work waits beside a free thread.

        Costs next to nothing when nothing waits for anything.
        """
        books = self.books
        if books.regainers:
            books.regain()
        if not books.queued:
            if self.episode.active:
                self.episode.end(books.clock())
            return
        if not books.searching:
            self._rouse()
        if books.hopeful or (books.continuations and books.opaque):
            self._relieve()

    def _rouse(self) -> None:
        """Send one thread for what may start: a parked one, or a new one below the base.

        One at a time: a thread that finds work sends the next one before it begins. Short tasks are
        then done by few threads, and long ones get theirs within the time of some wakes.
        """
        books = self.books
        if not books.startable():
            return
        if books.idle:
            books.wake()
        elif books.short_of_base() and books.can_grow():
            books.grow("base")

    def _relieve(self) -> None:
        """A thread for each queued task that a parked thread waits for: free, new, or the waiter's."""
        books = self.books
        room, spare = dict(books.room), books.spare()
        for wait in list(books.hopeful):
            target = wait.queued()
            if target is None:
                del books.hopeful[wait]
            elif wait.phase is not Phase.WAITING or room[target.kind] <= 0:
                continue
            elif books.settings.help_first and wait.may_run(target, books.clock()):
                books.help(wait, target)
                room[target.kind] -= 1
            elif spare > 0:
                spare -= 1
                room[target.kind] -= 1
            elif books.can_grow():
                books.grow("awaited")
                room[target.kind] -= 1
            else:
                self._at_the_ceiling(wait, target)
                room[target.kind] = books.room[target.kind]
        if books.opaque:
            self._relieve_opaque(spare)

    def _at_the_ceiling(self, wait: Wait, target: Entry) -> None:
        self._begin_episode("the ceiling is reached", Certainty.of(wait))
        if wait.may_run(target, self.books.clock()):
            self.books.help(wait, target)

    def _relieve_opaque(self, spare: int) -> None:
        """Threads for what is taken for the continuation of a wait that nobody knows more of."""
        books = self.books
        wanted = sum(books.room[entry.kind] > 0 for entry in books.continuations) - spare
        while wanted > 0 and books.can_grow():
            books.grow("continuation")
            wanted -= 1

    def block(self, wait: Wait) -> None:
        """A task begins to wait. If that closes a ring, its youngest waiter fails at once."""
        self.books.block(wait)
        self.settle()
        if not plainly_moving(self.books, wait):
            while self.fail_stuck(Certainty.CERTAIN):
                pass

    def fail_stuck(self, certainty: Certainty, older_than: float = 0.0) -> bool:
        """Fail the youngest of the waits that can never end, if they are `older_than` seconds.

        The youngest that can then go on: one that would have to regain a place that the others
        keep would fail for nothing.
        """
        books = self.books
        waits = stuck(books, certainty)
        parked = [wait for wait in waits if wait.phase is Phase.WAITING]
        now = books.clock()
        if not parked or any(now - wait.since < older_than for wait in parked):
            return False
        self._begin_episode("a ring of waits", certainty)
        victim = next(filter(books.could_go, parked), parked[0])
        shown = picture(books, waits, self._stacks())
        books.break_wait(victim, StarvationError(f"{victim.waiter.name} can never go on: {shown}"))
        kind = certainty.name.lower()
        books.tally.starved[kind] = books.tally.starved.get(kind, 0) + 1
        self.settle()
        return True

    def watch(self) -> None:
        """The ticks begin (again): time without progress counts from now."""
        self._finished, self._progress = self.books.tally.finished, self.books.clock()

    def tick(self) -> bool:
        """Look after what nobody announces; True while there is a reason to look again.

        Called every `tick` seconds while work is queued.
        """
        books, settings = self.books, self.books.settings
        now = books.clock()
        books.recover(now)
        if books.tally.finished != self._finished or not (books.queued or books.waits):
            self.watch()
        self.settle()
        if books.queued and now - self._progress >= settings.tick:
            idle_for = now - self._progress
            self._begin_episode(f"no task has finished for {idle_for:.1f} s", Certainty.OPAQUE)
            if not books.spare() and books.startable() and books.can_grow():
                books.grow("stalled", newest=True)
        if books.waits:
            self.fail_stuck(Certainty.CERTAIN)
            self.fail_stuck(Certainty.PRESUMED, settings.grace)
            if books.queued and now - self._progress >= settings.legal_wait:
                self.fail_stuck(Certainty.OPAQUE, settings.legal_wait)
        return self.watching()

    def watching(self) -> bool:
        """Whether anything is queued, or waits for the reactor, that may need a look later."""
        books = self.books
        return books.queued > 0 or any(wait.awaited is None for wait in books.waits)

    def neglected(self) -> bool:
        """Whether the ticks must run: work is queued that no thread is on its way to, or may be."""
        return self.books.queued > self.books.searching or (
            bool(self.books.waits) and self.watching()
        )

    def _begin_episode(self, why: str, certainty: Certainty) -> None:
        books = self.books
        if not self.episode.begin(books.clock()):
            return
        kind = certainty.name.lower()
        books.tally.episodes[kind] = books.tally.episodes.get(kind, 0) + 1
        books.orders.append(Warn(self._report(why)))

    def _report(self, why: str) -> str:
        books = self.books
        return (
            f"{why}: {books.queued} tasks queued, {books.threads} threads of at most "
            f"{books.ceiling}, {books.blocked} of them waiting, {books.leases_out()} leases out; "
            f"{picture(books, list(books.waits), self._stacks())}"
        )
