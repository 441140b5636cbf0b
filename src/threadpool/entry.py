"""What the decisions know of a task and of a wait: no function, no thread, no result."""

from collections.abc import Iterator
from enum import Enum


class State(Enum):
    """Where a task is: in a queue, on a thread, or off it for good."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


# Names of the module are found faster than members of an Enum, and each task asks often.
QUEUED, RUNNING, DONE = State.QUEUED, State.RUNNING, State.DONE


class Phase(Enum):
    """Where a wait is: parked, running the awaited task itself, waiting for its place, or over."""

    WAITING = "waiting"
    HELPING = "helping"
    REGAINING = "regaining"
    OVER = "over"


class Entry:
    """One task as the pool's books see it.

    `id` grows with submission, so the largest is the youngest. `depth` is 0 for a root, and one
    more than its parent's for a descendant of a living task. `age` orders tasks of one depth and
    key: a root's is its id, a child has its parent's, a retry that of the task it repeats.
    `height` is how many levels of tasks it declared that it will wait for; `tall` whether it counts
    for the height rule now. `limit` is the longest that it may run, in seconds, if that is known.
    `presumed` is the wait for the reactor during which it was submitted, which therefore probably
    waits for it; `orphan` says that it was started although nobody knows what caused it, because
    everything stood still. `held` says whether it holds one of its kind's places (for "db": a
    lease). `settled` says whether its outcome is known, which a cancelled running task's is before
    it is DONE. `critical` and `transactions` count what it is inside of.
    """

    __slots__ = (
        "age",
        "critical",
        "depth",
        "height",
        "held",
        "id",
        "key",
        "kind",
        "limit",
        "orphan",
        "parent",
        "presumed",
        "queued_at",
        "settled",
        "state",
        "tall",
        "token",
        "transactions",
        "wait",
        "waits",
    )  # fmt: skip

    def __init__(
        self,
        id: int,  # noqa: A002 - the field's word
        kind: str,
        key: str = "",
        height: int = 0,
        origin: "Origin" = (None, None, ""),
        age: int | None = None,
        limit: float | None = None,
    ) -> None:
        self.id = id
        self.kind = kind
        self.height = height
        self.limit = limit
        self.state = QUEUED
        self.held = self.settled = self.tall = self.orphan = False
        self.transactions = self.critical = 0
        self.queued_at = 0.0
        self.wait: Wait | None = None
        self.waits: list[Wait] | None = None
        parent, self.presumed, self.token = origin
        if parent is not None:
            parent = living(parent)
        self.parent = parent
        if parent is None:
            self.depth, self.key, self.age = 0, key, id
        else:
            self.depth, self.key, self.age = parent.depth + 1, key or parent.key, parent.age
        if age is not None:
            self.age = age

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"task {self.id}"

    @property
    def label(self) -> str:
        """What all tasks with the same function have in common."""
        return self.name

    def ancestors(self) -> Iterator[int]:
        """The ids of the living tasks that caused it, the nearest first."""
        parent = living(self.parent)
        while parent is not None:
            yield parent.id
            parent = living(parent.parent)


def living(entry: Entry | None) -> Entry | None:
    """The entry, or its nearest ancestor, that has not ended."""
    while entry is not None and entry.state is DONE:
        entry = entry.parent
    return entry


class Wait:
    """One running task that waits: for another task, or (`awaited` None) for the reactor thread.

    `keeps` says that it stays in its place (it is inside of a transaction). `can_help` says whether
    its thread may run what it waits for. `bottom` says whether its thread does nothing below it.
    `until` is when its time is over, if ever. `children` are tasks that were submitted by what it
    waits for on the reactor. `opaque` says that nobody knows what it waits for.
    """

    __slots__ = (
        "awaited", "bottom", "can_help", "children", "error", "helping", "keeps", "opaque", "phase",
        "settled", "since", "until", "waiter",
    )  # fmt: skip

    def __init__(
        self,
        waiter: Entry,
        awaited: Entry | None,
        *,
        keeps: bool = False,
        can_help: bool = True,
        bottom: bool = True,
        since: float = 0.0,
        until: float | None = None,
    ) -> None:
        self.waiter = waiter
        self.awaited = awaited
        self.keeps = keeps
        self.can_help = can_help and not keeps
        self.bottom = bottom
        self.since = since
        self.until = until
        self.phase = Phase.WAITING
        self.settled = self.opaque = False
        self.helping: Entry | None = None
        self.error: Exception | None = None
        self.children: list[Entry] = []

    def pending(self) -> list[Entry]:
        """The tasks it waits for, or probably waits for, that have not ended."""
        if self.awaited is not None:
            return [] if self.awaited.settled else [self.awaited]
        self.children = [child for child in self.children if not child.settled]
        return self.children

    def queued(self) -> Entry | None:
        """The first task it waits for that has no thread yet."""
        return next((entry for entry in self.pending() if entry.state is QUEUED), None)

    def may_run(self, entry: Entry, now: float) -> bool:
        """Whether its thread may run this task: never one that may take longer than it can wait."""
        if not self.can_help:
            return False
        return self.until is None or entry.limit is None or self.until - now >= entry.limit

    def ring(self) -> None:
        """Wake the thread that waits; the thread's own kind of wait does."""


Origin = tuple[Entry | None, Wait | None, str]
"""Where a task comes from: its parent, the wait it is presumed to serve, a foreign token."""

ROOT: Origin = (None, None, "")
"""Nothing that is known caused it."""
