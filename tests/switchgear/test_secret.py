"""A secret is seen only by code that asks for it."""

import logging
import pickle

import pytest
from attrs import asdict, frozen

from switchgear.secret import Secret

MARKER = "S3cr-marker-91"


@frozen
class Login:
    """What holds a secret."""

    user: str
    password: Secret


@pytest.mark.parametrize(
    "shown",
    [
        str(Secret(MARKER)),
        repr(Secret(MARKER)),
        f"{Secret(MARKER)}",
        f"{Secret(MARKER)!r:>30}",
        f"{Secret(MARKER):>30}",
        "%s %r" % (Secret(MARKER), Secret(MARKER)),  # noqa: UP031 # a logger formats like this
        f"{Login('admin', Secret(MARKER))}",
        f"{[Secret(MARKER)]} { {'password': Secret(MARKER)} }",
    ],
)
def test_no_way_of_printing_shows_it(shown: str) -> None:
    """Whatever prints it, alone or inside of something, shows stars."""
    assert MARKER not in shown
    assert "***" in shown


def test_its_length_is_not_shown() -> None:
    """Short and long ones look the same."""
    assert str(Secret("a")) == str(Secret("a" * 50)) == "***"


def test_no_error_shows_it(caplog: pytest.LogCaptureFixture) -> None:
    """A comparison that can't be made, or an exception that carries it, says nothing of the text."""
    with pytest.raises(TypeError) as caught:
        sorted([Secret(MARKER), Secret("b")])  # type: ignore[type-var]
    try:
        raise ValueError(Secret(MARKER))
    except ValueError:
        logging.getLogger("test").exception("failed with %s", Secret(MARKER))
    assert MARKER not in str(caught.value)
    assert MARKER not in caplog.records[0].getMessage()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "p#q",
        "$HOME",
        "`id`",
        "x\"y'z",
        "\\n",
        "-v",
        ";reboot",
        "%s",
        "0123456",
        "Grün€7",
        "a:b",
    ],
)
def test_who_asks_gets_exactly_what_was_given(text: str) -> None:
    """Shell characters, digits and other scripts stay as they are, and a number stays a text."""
    assert Secret(text).reveal() == text


def test_equal_texts_are_equal_secrets() -> None:
    """So a change of credentials can be noticed without showing them."""
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1


def test_a_copy_is_still_a_secret() -> None:
    """What went through pickle hides it as well."""
    again = pickle.loads(pickle.dumps(Secret(MARKER)))  # noqa: S301 # our own bytes
    assert again == Secret(MARKER)
    assert MARKER not in repr(again)


def test_a_value_taken_apart_does_not_open_it() -> None:
    """`attrs.asdict` is how values are shown in a hurry."""
    assert MARKER not in str(asdict(Login("admin", Secret(MARKER))))
