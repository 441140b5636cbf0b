"""Faults from a shuffled deck: exact rates, evenly spread, and the same for the same seed.

Independent draws would leave some acts without any fault and give others a handful; the deck has its
faults one in each equal stretch of cards, at a random place in it.
"""

from collections.abc import Iterator
from enum import StrEnum, unique
from random import Random

from switchgear_sim.sm15k.knobs import Knobs

#: Cards in a deck. Rates are rounded to whole cards.
CARDS = 400


@unique
class FaultKind(StrEnum):
    """What goes wrong with one request."""

    DROPPED_BEFORE = "dropped_before"
    DROPPED_AFTER = "dropped_after"
    HTTP_500 = "http_500"
    SLOW = "slow"


class Deck:
    """Deals None or a fault for each request. Shuffled again when it is used up or the rates change."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._cards: Iterator[FaultKind | None] = iter(())
        self._rates: tuple[float, float, float] | None = None

    def deal(self, knobs: Knobs) -> FaultKind | None:
        """Take the next card."""
        rates = (knobs.drop_rate, knobs.error_rate, knobs.slow_rate)
        if rates != self._rates:
            self._rates, self._cards = rates, iter(())
        for card in self._cards:
            return card
        self._cards = iter(shuffled(knobs, self._chance))
        return next(self._cards)


def shuffled(knobs: Knobs, chance: Random) -> list[FaultKind | None]:
    """Return one deck: every fault of its rate, in random order, each in a stretch of its own."""
    drops = round(knobs.drop_rate * CARDS)
    faults = [
        *[FaultKind.DROPPED_BEFORE, FaultKind.DROPPED_AFTER] * (drops // 2),
        *[FaultKind.DROPPED_BEFORE] * (drops % 2),
        *[FaultKind.HTTP_500] * round(knobs.error_rate * CARDS),
        *[FaultKind.SLOW] * round(knobs.slow_rate * CARDS),
    ][:CARDS]
    chance.shuffle(faults)
    deck: list[FaultKind | None] = [None] * CARDS
    for index, fault in enumerate(faults):
        first, end = index * CARDS // len(faults), (index + 1) * CARDS // len(faults)
        deck[chance.randrange(first, end)] = fault
    return deck
