"""The causal token, which comes from another process and may be anything."""

from hypothesis import given
from hypothesis import strategies as st

from threadpool.causes import LONGEST, caused_by, own_steps, token
from threadpool.entry import Entry

from .pump import running


def test_nothing_caused_a_bare_context() -> None:
    """Its token is empty."""
    assert token("home") == ""


def test_a_token_names_the_living_ancestors_nearest_last() -> None:
    """And what came from elsewhere before them."""
    root = Entry(3, "io", origin=(None, None, "rack.9"))
    child = Entry(4, "io", origin=(root, None, "rack.9"))
    with caused_by(child):
        assert token("home") == "rack.9>home.3>home.4"


def test_a_foreign_cause_is_handed_on() -> None:
    """A process in the middle does not lose it."""
    with caused_by("region.7"):
        assert token("rack") == "region.7"


def test_own_steps_are_found_between_foreign_ones() -> None:
    """The nearest first."""
    assert list(own_steps("a", "a.1>b.2>a.3>a.x>>a.")) == [3, 1]


@given(st.text(max_size=2 * LONGEST))
def test_any_text_is_a_harmless_token(text: str) -> None:
    """It comes over the wire."""
    with running() as (pool, reactor), pool.caused_by(text):
        assert len(pool.cause()) <= LONGEST
        assert reactor.until(pool.defer("io", lambda: 1)) == 1
