"""A queue in the pool's order: the deepest first, then each key in turn, then first come."""

from collections import deque

from .entry import Entry, State


class Lanes:
    """Entries of one depth: each key has a lane, and the lanes take turns."""

    __slots__ = ("by_key", "count", "turns")

    def __init__(self) -> None:
        self.by_key: dict[str, deque[Entry]] = {}
        self.turns: deque[str] = deque()
        self.count = 0

    def push(self, entry: Entry) -> None:
        """Append to its key's lane; a new lane has its turn last."""
        self.count += 1
        lane = self.by_key.get(entry.key)
        if lane is None:
            self.by_key[entry.key] = deque((entry,))
            self.turns.append(entry.key)
        else:
            lane.append(entry)

    def pop(self) -> Entry:
        """The next entry that is still queued; IndexError when there is none."""
        while True:
            key = self.turns[0]
            lane = self.by_key[key]
            entry = lane.popleft()
            waiting = entry.state is State.QUEUED
            if not lane:
                self.turns.popleft()
                del self.by_key[key]
            elif waiting:
                self.turns.rotate(-1)
            if waiting:
                self.count -= 1
                return entry

    def entries(self) -> list[Entry]:
        """All that are queued, lane by lane."""
        every = (entry for lane in self.by_key.values() for entry in lane)
        return [entry for entry in every if entry.state is State.QUEUED]

    def newest(self) -> Entry:
        """The entry that was submitted last; it stays in its lane."""
        return max(self.entries(), key=lambda entry: entry.id)


class FairQueue:
    """Queued entries of one kind. An entry that left QUEUED elsewhere must be `discard`ed."""

    __slots__ = ("count", "levels", "served")

    def __init__(self) -> None:
        self.levels: dict[int, Lanes] = {}
        self.count = 0
        self.served = 0  # when this kind was last served: equal depths of two kinds take turns

    def push(self, entry: Entry) -> None:
        """Append an entry that is QUEUED."""
        self.count += 1
        level = self.levels.get(entry.depth)
        if level is None:
            level = self.levels[entry.depth] = Lanes()
        level.push(entry)

    def deepest(self) -> int:
        """The largest depth there is; ValueError when empty."""
        return max(self.levels)

    def pop(self) -> Entry:
        """Remove and return the next entry."""
        depth = max(self.levels)
        level = self.levels[depth]
        entry = level.pop()
        self._shrunk(depth, level)
        return entry

    def newest(self) -> Entry:
        """The youngest of the deepest entries; it stays queued."""
        return self.levels[max(self.levels)].newest()

    def discard(self, entry: Entry) -> None:
        """Forget an entry of this queue that is no longer QUEUED (its husk goes when it is met)."""
        level = self.levels[entry.depth]
        level.count -= 1
        self._shrunk(entry.depth, level)

    def entries(self) -> list[Entry]:
        """All that are queued, the deepest first."""
        levels = [self.levels[depth] for depth in sorted(self.levels, reverse=True)]
        return [entry for level in levels for entry in level.entries()]

    def _shrunk(self, depth: int, level: Lanes) -> None:
        self.count -= 1
        if not level.count:
            del self.levels[depth]
