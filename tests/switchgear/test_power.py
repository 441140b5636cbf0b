"""Power as every part speaks of it."""

import pytest
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st

from switchgear.power import TEXT_LIMIT, ErrorClass, Fault, Power, Wish, cut, keepable


@pytest.mark.parametrize(
    ("wish", "power"), [(Wish.ON, Power.ON), (Wish.OFF, Power.OFF), (Wish.QUERY, None)]
)
def test_a_wish_is_satisfied_by_its_state(wish: Wish, power: Power | None) -> None:
    """On and off have one state each; a query takes any answer."""
    assert wish.power is power


def test_every_wish_has_an_answer() -> None:
    """A wish that is added later must not be taken for a query by mistake."""
    assert {wish for wish in Wish if wish.power is None} == {Wish.QUERY}


def test_error_classes_are_the_ones_of_the_design() -> None:
    """The words are in the record and on the wire, so they never change."""
    assert [str(kind) for kind in ErrorClass] == [
        "auth",
        "connection",
        "busy",
        "settings",
        "unsupported",
        "timed-out",
        "refused",
        "internal",
    ]


def test_a_fault_reads_as_class_and_text() -> None:
    """The text is for a person; the class stands before it."""
    assert str(Fault(ErrorClass.BUSY, "another login is open")) == "busy: another login is open"


def test_a_fault_is_one_short_line() -> None:
    """What a chassis says never spreads over lines of a log, nor fills the record."""
    fault = Fault(ErrorClass.INTERNAL, "first\r\n\tsecond " + "x" * 5000)
    assert fault.text.startswith("first second xxx")
    assert len(fault.text) == TEXT_LIMIT


def test_a_fault_does_not_change() -> None:
    """It is shared by everyone who was told of it."""
    fault = Fault(ErrorClass.AUTH, "refused")
    with pytest.raises(FrozenInstanceError):
        fault.text = "changed"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 5, ""),
        ("  a \n b  ", 5, "a b"),
        ("abcde", 5, "abcde"),
        ("abcdef", 5, "abcd…"),
        ("Grün€7!", 6, "Grün€…"),
    ],
)
def test_what_is_cut_has_a_mark(text: str, limit: int, expected: str) -> None:
    """The limit counts characters, the mark included."""
    assert cut(text, limit) == expected


@given(st.text(max_size=60), st.integers(min_value=1, max_value=30))
def test_cutting_twice_changes_nothing(text: str, limit: int) -> None:
    """A fault that was read back from the record or the wire equals the one that was sent."""
    once = cut(text, limit)
    assert len(once) <= limit
    assert cut(once, limit) == once
    assert "\n" not in once


@pytest.mark.parametrize("odd", ["\ud800", "\x00"])
def test_a_text_can_always_be_sent_and_stored(odd: str) -> None:
    """A device's JSON may hold half a surrogate pair or NUL, which neither UTF-8 nor a table can."""
    assert Fault(ErrorClass.REFUSED, f"a{odd}b").text == "a\ufffdb"
    assert keepable(f"{odd}\U0001f600") == "\ufffd\U0001f600"
