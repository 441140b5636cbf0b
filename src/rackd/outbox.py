"""What the regions have to be told: kept in order until one of them has committed it. Pure.

While it waits, a newer progress of an operation replaces the older one, and so do sightings of a slot
and the health of a chassis: the outbox stays small however long the regions are away. A sighting is
never moved past a result of its chassis, for a result must find the sighting that it rests on.
"""

from collections.abc import Iterable, Iterator

from attrs import Factory, define, evolve, frozen

from switchgear.wire.arguments import pages
from switchgear.wire.rack import Seen

Key = tuple[str, ...]


@frozen
class _Kept:
    """An item, and when it was put here (`Sighting.age` counts from there)."""

    item: Seen
    since: float
    key: Key | None

    def at(self, now: float) -> Seen:
        sighting = self.item.sighting
        if sighting is None:
            return self.item
        return evolve(self.item, sighting=evolve(sighting, age=sighting.age + now - self.since))


@define
class Outbox:
    """Items in order. `batch`, then `sent` or `unsent`: one batch is under way at a time."""

    _kept: dict[int, _Kept] = Factory(dict)
    _newest: dict[Key, int] = Factory(dict)
    _next: int = 0
    _away: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, now: float, items: Iterable[Seen]) -> None:
        """Put items at the end; what they make out of date is dropped."""
        for item in items:
            key = _key(item)
            if key is not None:
                self._drop(self._newest.get(key))
            self._put(_Kept(item, now, key))
            if item.result is not None:
                self._fix(("sighting", item.result.chassis))

    def batch(self, now: float, alone: bool = False) -> list[Seen]:
        """Return the oldest items that fit one message (only the oldest one if `alone`)."""
        items = next(pages(kept.at(now) for kept in self._kept.values()), [])
        items = items[:1] if alone else items
        self._away = tuple(number for number, _ in zip(self._kept, items, strict=False))
        for number in self._away:
            self._unlist(number)
        return items

    def sent(self) -> None:
        """Forget the batch: a region has committed it."""
        for number in self._take_away():
            del self._kept[number]

    def unsent(self) -> None:
        """Keep the batch where it is, at the front."""
        self._take_away()

    def later(self) -> None:
        """Put the batch at the end, so that it does not hold up the others; drop what is out of date."""
        for number in self._take_away():
            kept = self._kept.pop(number)
            if kept.key not in self._newest:
                self._put(kept)

    def _take_away(self) -> Iterator[int]:
        away, self._away = self._away, ()
        return iter(away)

    def _put(self, kept: _Kept) -> None:
        self._kept[self._next] = kept
        if kept.key is not None:
            self._newest[kept.key] = self._next
        self._next += 1

    def _drop(self, number: int | None) -> None:
        if number is not None:
            self._unlist(number)
            del self._kept[number]

    def _unlist(self, number: int) -> None:
        """Make sure that a newer item does not replace this one."""
        key = self._kept[number].key
        if key is not None and self._newest.get(key) == number:
            del self._newest[key]

    def _fix(self, start: Key) -> None:
        """Let nothing replace the items whose key begins so."""
        for key in [key for key in self._newest if key[: len(start)] == start]:
            del self._newest[key]


def _key(item: Seen) -> Key | None:
    """Say what an item is the newest word about; None if every one counts."""
    if item.sighting is not None:
        return ("sighting", item.sighting.chassis, item.sighting.slot)
    if item.progress is not None:
        return ("progress", item.progress.operation)
    if item.health is not None:
        return ("health", item.health.chassis)
    return None
