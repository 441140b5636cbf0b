"""The fault deck: exact rates, evenly spread, the same for the same seed."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from switchgear_sim.sm15k.deck import CARDS, Deck, FaultKind, shuffled
from switchgear_sim.sm15k.knobs import Knobs


def test_rates_are_exact() -> None:
    """1 % dropped (half before, half after), 1 % answered 500 and 0.5 % slow, of every 400."""
    counts = Counter(shuffled(Knobs(), Random(7)))
    assert counts[FaultKind.DROPPED_BEFORE] == counts[FaultKind.DROPPED_AFTER] == 2
    assert counts[FaultKind.HTTP_500] == 4
    assert counts[FaultKind.SLOW] == 2


@given(st.integers(0, 10_000))
def test_any_80_requests_meet_a_fault(seed: int) -> None:
    """One fault in each stretch of 40 cards: no act of a whole chassis goes without."""
    deck = shuffled(Knobs(), Random(seed))
    for first in range(CARDS - 79):
        assert any(deck[first : first + 80])


def test_same_seed_same_faults() -> None:
    """Two chassis with one seed behave alike."""
    one, two = Deck(Random(3)), Deck(Random(3))
    assert [one.deal(Knobs()) for _ in range(900)] == [two.deal(Knobs()) for _ in range(900)]


def test_a_turned_rate_counts_at_once() -> None:
    """A new rate does not wait for the end of the deck."""
    deck = Deck(Random(3))
    deck.deal(Knobs())
    assert deck.deal(Knobs(error_rate=1.0, drop_rate=0.0)) is FaultKind.HTTP_500


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_any_rates_make_a_deck(drop: float, error: float, slow: float) -> None:
    """Rates that add up to more than everything still make a whole deck."""
    knobs = Knobs(drop_rate=drop, error_rate=error, slow_rate=slow)
    assert len(shuffled(knobs, Random(1))) == CARDS
