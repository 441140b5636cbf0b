"""The words for a node's life."""

from switchgear.life import PASSING, Status, Verb


def test_the_words_are_the_ones_of_the_design() -> None:
    """They are in the record, on the wire and in node sets, so they never change."""
    assert set(Status) == {
        "new",
        "ready",
        "allocated",
        "deploying",
        "deployed",
        "releasing",
        "cleaning",
        "broken",
        "retired",
        "failed-deploying",
        "failed-releasing",
        "failed-cleaning",
    }
    assert len(Verb) == len({str(verb) for verb in Verb})


def test_every_passing_status_can_fail() -> None:
    """A node whose work failed has a status that says so, and keeps its owner and reason."""
    assert {f"failed-{status}" for status in PASSING} <= set(Status)
