"""What to do next, decided from the books alone: wake, grow, help, or fail the youngest.

Pure: every decision is a booking and an order in `books.orders`. Tests step it without threads.
"""

from .accounts import Accounts
from .entry import Phase, Wait
from .episode import Episode
from .errors import StarvationError
from .orders import Warn
from .stuck import Certainty, picture, plainly_moving, stuck


class Decisions:
    """The ladder of one pool: descendants first, grow, help, last fail the youngest that waits."""

    def __init__(self, books: Accounts) -> None:
        self.books = books
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
        if books.idle or (books.threads - books.blocked < books.settings.base):
            self._rouse()
        if books.hopeful:
            self._relieve()

    def _rouse(self) -> None:
        """Wake parked threads for what may start; keep `base` threads that are not blocked."""
        books = self.books
        wanted = books.startable() - books.searching
        while wanted > 0 and books.idle:
            books.wake()
            wanted -= 1
        base = books.settings.base
        while wanted > 0 and books.can_grow() and books.threads - books.blocked < base:
            books.grow()
            wanted -= 1

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
            elif spare > 0:
                spare -= 1
                room[target.kind] -= 1
            elif books.can_grow():
                books.grow()
                room[target.kind] -= 1
            else:
                self._begin_episode("the ceiling is reached")
                if wait.can_help:
                    books.help(wait, target)
                    room[target.kind] -= 1

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
        self._begin_episode("a ring of waits")
        victim = next(filter(books.could_go, parked), parked[0])
        error = StarvationError(f"{victim.waiter.name} can never go on: {picture(books, waits)}")
        books.break_wait(victim, error)
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
            self._begin_episode(f"no task has finished for {now - self._progress:.1f} s")
            if not books.spare() and books.startable() and books.can_grow():
                books.grow(newest=True)
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

    def _begin_episode(self, why: str) -> None:
        books = self.books
        if not self.episode.begin(books.clock()):
            return
        books.tally.episodes += 1
        books.orders.append(Warn(self._report(why)))

    def _report(self, why: str) -> str:
        books = self.books
        return (
            f"{why}: {books.queued} tasks queued, {books.threads} threads of at most "
            f"{books.ceiling}, {books.blocked} of them waiting, {books.leases_out()} leases out; "
            f"{picture(books, list(books.waits))}"
        )
