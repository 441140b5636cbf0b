"""Node sets under any input: what holds for all of them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from switchgear.errors import BadRequest
from switchgear.nodeset import LIMIT, Group, expand, fold, groups

MEMBERS: dict[Group, list[str]] = {
    ("all", "*"): ["n001", "m1"],
    ("chassis", "sm-1"): ["n001", "n002"],
    ("status", "ready"): ["n001"],
    ("owner", "juju"): ["n002"],
}
#: Pieces that are likely to meet in a slip of the fingers.
PIECES = st.sampled_from(
    [
        "n",
        "a_",
        "0",
        "01",
        "7",
        "100",
        "[",
        "]",
        "-",
        ",",
        "/",
        "!",
        "&",
        "^",
        "@",
        ":",
        ".",
        " ",
        "@all",
        "@chassis:sm-1",
        "@status:ready",
        "owner=juju",
        "[1-3]",
        "[001-192]",
    ]
)
EXPRESSIONS = st.lists(PIECES, max_size=9).map("".join) | st.text(max_size=30)
NAMES = st.from_regex(r"[a-z]{1,4}(-[1-9])?-?(0|[1-9][0-9]{0,3}|00[1-9])", fullmatch=True)


def _expanded(expression: str) -> list[str] | None:
    try:
        return expand(expression, {group: MEMBERS.get(group, []) for group in groups(expression)})
    except BadRequest:
        return None


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS)
def test_any_text_is_a_set_or_a_bad_request(expression: str) -> None:
    """No input ends in another error, in a doubled name, or in more names than allowed."""
    names = _expanded(expression)
    if names is not None:
        assert 0 < len(names) <= LIMIT
        assert len(set(names)) == len(names)


@settings(max_examples=100, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=40, unique=True))
def test_a_folded_set_is_read_as_the_same_nodes(names: list[str]) -> None:
    """What the command prints as failed can be asked for again, and means exactly those."""
    assert set(expand(fold(names), {})) == set(names)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(1, 60), min_size=1), st.sets(st.integers(1, 60), min_size=1))
def test_the_operators_are_those_of_sets(left: set[int], right: set[int]) -> None:
    """Union, difference, intersection and symmetric difference, over any two ranges."""
    one, two = (fold([f"n{number}" for number in numbers]) for numbers in (left, right))
    for operator, meant in (
        (",", left | right),
        ("!", left - right),
        ("&", left & right),
        ("^", left ^ right),
    ):
        names = _expanded(f"{one}{operator}{two}")
        assert set(names or []) == {f"n{number}" for number in meant}
