"""Operations: their ids, and the words for how far they are and how they end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchgear.operation import OperationId, Outcome, State

NUMBERS = st.integers(min_value=0, max_value=2**63 - 1)


@given(NUMBERS, NUMBERS)
def test_an_id_reads_as_it_was_written(generation: int, number: int) -> None:
    """The text is the only form in which an id travels."""
    written = OperationId(generation, number)
    assert OperationId.parse(str(written)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "1",
        "1.",
        ".1",
        "1.2.3",
        "-1.2",
        "1.-2",
        "+1.2",
        " 1.2",
        "1.2\n",
        "1,2",
        "a.b",
        "1.٣",
    ],
)
def test_anything_else_is_no_id(text: str) -> None:
    """Digits of other scripts, signs and spaces are not taken by accident."""
    with pytest.raises(ValueError, match="is no operation id"):
        OperationId.parse(text)


def test_the_error_repeats_little_of_what_was_typed() -> None:
    """A person sees what was wrong; a log is not filled with it."""
    with pytest.raises(ValueError, match="is no operation id") as caught:
        OperationId.parse("x" * 10_000)
    assert len(str(caught.value)) < 120


def test_the_words_are_the_ones_of_the_design() -> None:
    """They are in the record and on the wire, so they never change."""
    assert list(State) == ["queued", "dispatched", "running", "ended"]
    assert list(Outcome) == ["succeeded", "failed", "timed-out", "cancelled", "superseded"]
