"""Who can never go on, whatever the running tasks do: the proof behind every StarvationError.

Everything that may still move is collected to a fixpoint; the waits left over are stuck. It covers
true cycles, and cycles through threads and leases, with the same rule. Pure: it only reads the books.
"""

from enum import Enum
from typing import assert_never

from .accounts import Accounts
from .entry import Entry, Phase, State, Wait


class Certainty(Enum):
    """What a wait for the reactor is taken for."""

    CERTAIN = 1
    """It may end at any time."""
    PRESUMED = 2
    """It ends only when one of the living tasks submitted for it does."""
    OPAQUE = 3
    """It does not end."""

    @classmethod
    def of(cls, wait: Wait) -> "Certainty":
        """How certain it is what this wait waits for."""
        if wait.awaited is not None:
            return cls.CERTAIN
        return cls.PRESUMED if wait.pending() else cls.OPAQUE


def stuck(books: Accounts, certainty: Certainty = Certainty.CERTAIN) -> list[Wait]:
    """The waits that cannot end, the youngest waiter first; empty when all may."""
    moving: set[Wait] = set()
    left = list(books.waits)
    while True:
        reach = _Reach(books, certainty, moving)
        still = [wait for wait in left if not reach.may_end(wait)]
        if len(still) == len(left):
            return sorted(left, key=lambda wait: -wait.waiter.id)
        moving.update(set(left) - set(still))
        left = still


def plainly_moving(books: Accounts, wait: Wait) -> bool:
    """Whether this wait, just begun, may end: seen at a glance, which is nearly always enough.

    The place that it gave back is free, or in the hands of a task that runs.
    """
    awaited = wait.awaited
    if awaited is None or awaited.settled:
        return True
    if awaited.state is State.RUNNING:
        return awaited.wait is None
    return books.room[awaited.kind] > 0 and (books.spare() > 0 or books.can_grow())


class _Reach:
    """One pass: what may move, given the waits already known to."""

    def __init__(self, books: Accounts, certainty: Certainty, moving: set[Wait]) -> None:
        self.books = books
        self.certainty = certainty
        self.moving = moving
        self.thread = self._thread()

    def _thread(self) -> bool:
        """A thread may come free: there is one, or one may be made, or one's lowest task may end."""
        books = self.books
        bottoms = [wait for wait in books.waits if wait.bottom]
        return (
            books.spare() > 0
            or books.can_grow()
            or books.threads > len(bottoms)
            or any(wait in self.moving for wait in bottoms)
        )

    def _place(self, kind: str) -> bool:
        """A place of the kind may come free: there is one, or one of its holders may end."""
        keepers = [wait for wait in self.books.waits if wait.keeps and wait.waiter.kind == kind]
        held = self.books.places[kind] - self.books.room[kind]
        return (
            self.books.room[kind] > 0
            or held > len(keepers)
            or any(wait in self.moving for wait in keepers)
        )

    def may_end(self, wait: Wait) -> bool:
        """Whether the wait may end and its task go on."""
        if not wait.keeps and not self._place(wait.waiter.kind):
            return False
        if wait.phase is Phase.REGAINING or wait.settled:
            return True
        if wait.awaited is not None:
            return self._may_finish(wait.awaited)
        if wait.helping is not None and not self._may_finish(wait.helping):
            return False
        return self._reactor_may_answer(wait)

    def _reactor_may_answer(self, wait: Wait) -> bool:
        match self.certainty:
            case Certainty.CERTAIN:
                return True
            case Certainty.PRESUMED:
                pending = wait.pending()
                return not pending or any(map(self._may_finish, pending))
            case Certainty.OPAQUE:
                return False
            case _ as never:
                assert_never(never)

    def _may_finish(self, entry: Entry) -> bool:
        if entry.settled:
            return True
        if entry.state is State.RUNNING:
            return entry.wait is None or entry.wait in self.moving
        return self._place(entry.kind) and (self.thread or self._helper(entry))

    def _helper(self, entry: Entry) -> bool:
        waits, now = [*(entry.waits or ()), entry.presumed], self.books.clock()
        return any(
            wait.may_run(entry, now) and wait.phase is Phase.WAITING for wait in waits if wait
        )
