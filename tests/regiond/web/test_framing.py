"""Server-sent events as bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regiond.web.framing import Mark, beat, frame, opening


def test_frame() -> None:
    """An event is its id, its name and one line of data."""
    told = frame("nodes", b'{"nodes":[]}', Mark(1, "77"))
    assert told == b'id: 1.77\nevent: nodes\ndata: {"nodes":[]}\n\n'
    assert frame("nodes", b"{}") == b"event: nodes\ndata: {}\n\n"


def test_a_frame_is_one_line() -> None:
    """Data that would end the event early is refused."""
    with pytest.raises(ValueError, match="one line"):
        frame("nodes", b"a\n\nid: 9")


def test_beginning_and_life() -> None:
    """A stream begins with when to come back, and a sign of life moves the id on."""
    assert opening(2.0) == b"retry: 2000\n\n"
    assert beat(Mark(1, "78")) == b": alive\nid: 1.78\nevent: beat\ndata: {}\n\n"


@given(st.integers(0, 2**63), st.integers(0, 2**64 - 1))
def test_marks(generation: int, cursor: int) -> None:
    """A mark is read as it was written."""
    mark = Mark(generation, str(cursor))
    assert Mark.parse(str(mark)) == mark


@pytest.mark.parametrize("text", ["", "1", "1.", ".2", "a.b", "1.2.3", "-1.2", "1.²", "9" * 40])
def test_what_is_no_mark(text: str) -> None:
    """Anything else is no mark, and no error."""
    assert Mark.parse(text) is None
