"""All the work of a chassis: who joins whom, who supersedes whom, and who waits behind whom.

For each slot there is a line of power work. Only its head is worked on. A wish joins the last of the
line if that is the same; the opposite wish ends a last one that waits as superseded, and stands behind
one whose command was sent. So on and off of one node never interleave.
"""

from collections.abc import Iterator

from attrs import define, field

from rackd.queue.work import Asked, Phase, Work
from switchgear.power import Wish
from switchgear.wire.rack import Order


@define
class Works:
    """The lines of each slot, and the queries."""

    _lines: dict[str, list[Work]] = field(factory=dict)
    _queries: dict[str, Work] = field(factory=dict)
    _by_operation: dict[str, tuple[Work, Asked]] = field(factory=dict)
    _seq: int = 0

    def __contains__(self, operation: str) -> bool:
        return operation in self._by_operation

    def __bool__(self) -> bool:
        return bool(self._by_operation)

    def add(self, order: Order, mark: int, now: float) -> list[tuple[Work, Asked]]:
        """Put an order in; return those that it superseded, with what was their work."""
        asked = Asked(order, mark)
        if order.wish is Wish.QUERY:
            work = self._queries.get(order.slot) or self._new(order, now)
            self._queries[order.slot] = work
            ended: list[tuple[Work, Asked]] = []
        else:
            work, ended = self._stand_in_line(order, now)
        work.asked.append(asked)
        self._by_operation[order.operation] = (work, asked)
        return ended

    def _stand_in_line(self, order: Order, now: float) -> tuple[Work, list[tuple[Work, Asked]]]:
        line = self._lines.setdefault(order.slot, [])
        ended: list[tuple[Work, Asked]] = []
        while line and line[-1].wish is not order.wish and line[-1].phase is not Phase.COMMANDED:
            ended += self._drop(line.pop())
        if not line or line[-1].wish is not order.wish:
            line.append(self._new(order, now))
        return line[-1], ended

    def _new(self, order: Order, now: float) -> Work:
        self._seq += 1
        return Work(order.slot, order.wish, now, self._seq)

    def _drop(self, work: Work) -> list[tuple[Work, Asked]]:
        ended = [(work, asked) for asked in work.asked]
        for asked in work.asked:
            del self._by_operation[asked.operation]
        work.asked = []
        return ended

    def find(self, operation: str) -> tuple[Work, Asked] | None:
        """Return the work of an operation, and its place in it."""
        return self._by_operation.get(operation)

    def end(self, work: Work, asked: Asked) -> None:
        """Take an operation out; work for nobody is removed, and the next in line is head."""
        del self._by_operation[asked.operation]
        work.asked.remove(asked)
        if work.asked:
            return
        if self._queries.get(work.slot) is work:
            del self._queries[work.slot]
            return
        line = self._lines[work.slot]
        line.remove(work)
        if not line:
            del self._lines[work.slot]

    def heads(self) -> list[Work]:
        """List the power work that is worked on: the first of each slot's line."""
        return [line[0] for line in self._lines.values()]

    def head(self, slot: str) -> Work | None:
        """Return the power work of a slot that is worked on."""
        line = self._lines.get(slot)
        return line[0] if line else None

    def queries(self) -> list[Work]:
        """List the queries."""
        return list(self._queries.values())

    def active(self) -> list[Work]:
        """List heads and queries."""
        return [*self.heads(), *self.queries()]

    def all(self) -> Iterator[Work]:
        """Go through all work, those behind others too."""
        for line in self._lines.values():
            yield from line
        yield from self._queries.values()

    def forget(self) -> None:
        """Drop everything without a word. A command in execution finds its work empty."""
        for work in self.all():
            work.asked = []
        self._lines.clear()
        self._queries.clear()
        self._by_operation.clear()
