"""A queue in the pool's order: the deepest first, then each key in turn, then the oldest."""

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from .entry import QUEUED, Entry


class Lane:
    """Entries of one depth and key, by age. Nearly all come in that order; the others are `late`."""

    __slots__ = ("late", "line")

    def __init__(self, entry: Entry) -> None:
        self.line = deque((entry,))
        self.late: list[tuple[int, int, Entry]] = []

    def push(self, entry: Entry) -> None:
        """Put it behind all that are older, or as old."""
        line = self.line
        if not line or line[-1].age <= entry.age:
            line.append(entry)
        else:
            heappush(self.late, (entry.age, entry.id, entry))

    def pop(self) -> Entry:
        """Take out the oldest; IndexError when there is none."""
        if self.late and (not self.line or self.late[0][0] < self.line[0].age):
            return heappop(self.late)[2]
        return self.line.popleft()

    def newest(self) -> Entry | None:
        """The one that came last and is still queued; it stays. Husks behind it are dropped."""
        line = self.line
        while line and line[-1].state is not QUEUED:
            line.pop()
        late = (entry for _, _, entry in self.late if entry.state is QUEUED)
        return line[-1] if line else max(late, key=lambda entry: entry.id, default=None)

    def __iter__(self) -> Iterator[Entry]:
        yield from (entry for _, _, entry in sorted(self.late, key=lambda item: item[:2]))
        yield from self.line

    def __bool__(self) -> bool:
        return bool(self.line or self.late)


class Level:
    """Entries of one depth: each key has a lane, and the lanes take turns."""

    __slots__ = ("by_key", "count", "turns")

    def __init__(self) -> None:
        self.by_key: dict[str, Lane] = {}
        self.turns: deque[str] = deque()
        self.count = 0

    def push(self, entry: Entry) -> None:
        """Append to its key's lane; a new lane has its turn last."""
        self.count += 1
        lane = self.by_key.get(entry.key)
        if lane is not None:
            lane.push(entry)
        else:
            self.by_key[entry.key] = Lane(entry)
            self.turns.append(entry.key)

    def pop(self) -> Entry:
        """The next entry that is still queued; IndexError when there is none."""
        turns = self.turns
        while True:
            key = turns[0]
            lane = self.by_key[key]
            entry = lane.pop()
            waiting = entry.state is QUEUED
            if not lane.line and not lane.late:
                turns.popleft()
                del self.by_key[key]
            elif waiting and len(turns) > 1:
                turns.rotate(-1)
            if waiting:
                self.count -= 1
                return entry

    def entries(self) -> Iterator[Entry]:
        """All that are queued, lane by lane."""
        every = (entry for lane in self.by_key.values() for entry in lane)
        return (entry for entry in every if entry.state is QUEUED)

    def newest(self) -> Entry:
        """The entry that was submitted last; it stays in its lane."""
        lasts = (lane.newest() for lane in self.by_key.values())
        return max((entry for entry in lasts if entry is not None), key=lambda entry: entry.id)


class FairQueue:
    """Queued entries of one kind. An entry that left QUEUED elsewhere must be `discard`ed."""

    __slots__ = ("count", "levels", "served")

    def __init__(self) -> None:
        self.levels: dict[int, Level] = {}
        self.count = 0
        self.served = 0  # when this kind was last served: equal depths of two kinds take turns

    def push(self, entry: Entry) -> None:
        """Append an entry that is QUEUED."""
        self.count += 1
        level = self.levels.get(entry.depth)
        if level is None:
            level = self.levels[entry.depth] = Level()
        level.push(entry)

    def deepest(self) -> int:
        """The largest depth there is; ValueError when empty."""
        return max(self.levels)

    def pop(self) -> Entry:
        """Remove and return the next entry."""
        levels = self.levels
        depth = max(levels) if len(levels) > 1 else next(iter(levels))
        level = levels[depth]
        entry = level.pop()
        self.count -= 1
        if not level.count:
            del levels[depth]
        return entry

    def newest(self) -> Entry:
        """The youngest of the deepest entries; it stays queued."""
        return self.levels[max(self.levels)].newest()

    def discard(self, entry: Entry) -> None:
        """Forget an entry of this queue that is no longer QUEUED (its husk goes when it is met)."""
        level = self.levels[entry.depth]
        level.count -= 1
        self.count -= 1
        if not level.count:
            del self.levels[entry.depth]

    def deepen(self, which: Callable[[Entry], bool]) -> list[Entry]:
        """Move these roots to the depth of children; return them."""
        roots = self.levels.pop(0, None)
        moved: list[Entry] = []
        for entry in roots.entries() if roots else ():
            self.count -= 1
            if which(entry):
                entry.depth = 1
                moved.append(entry)
            self.push(entry)
        return moved

    def entries(self) -> list[Entry]:
        """All that are queued, the deepest first."""
        levels = [self.levels[depth] for depth in sorted(self.levels, reverse=True)]
        return [entry for level in levels for entry in level.entries()]

    def oldest(self) -> Entry | None:
        """The one that is queued longest, of those whose turn is next in their lanes."""
        lanes = (lane for level in self.levels.values() for lane in level.by_key.values())
        heads = (next((e for e in lane if e.state is QUEUED), None) for lane in lanes)
        return min(
            (entry for entry in heads if entry is not None),
            key=lambda entry: entry.queued_at,
            default=None,
        )
