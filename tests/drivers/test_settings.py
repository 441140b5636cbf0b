"""Settings are checked where they enter, and every wrong field is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.registry import driver, validate, views
from drivers.settings import Kind, Setting
from switchgear.errors import BadRequest
from switchgear.secret import Secret

GOOD = {"url": "http://10.0.0.5/v2.0", "user": "admin"}
SECRETS = {"password": Secret("seamicro")}


def test_defaults_are_filled_in() -> None:
    """What is not given has its declared default."""
    settings, secrets = validate("seamicro", GOOD, SECRETS)
    assert settings["call_limit"] == "40"
    assert settings["user"] == "admin"
    assert secrets["password"].reveal() == "seamicro"


def test_limits_follow_the_settings() -> None:
    """Each limit can be set for one chassis, and the guess never exceeds the longest effect."""
    settings, _ = validate("seamicro", {**GOOD, "effect_limit": "2.5", "call_limit": "50"}, SECRETS)
    limits = driver("seamicro").limits(settings)
    assert (limits.call, limits.effect, limits.usual_effect) == (50.0, 2.5, 2.5)


@pytest.mark.parametrize(
    ("settings", "secrets", "field"),
    [
        ({"user": "a"}, SECRETS, "url: is missing"),
        (GOOD, {}, "password: is missing"),
        ({**GOOD, "password": "x"}, SECRETS, "password: is a secret"),
        (GOOD, {**SECRETS, "user": Secret("x")}, "user: is not a secret"),
        ({**GOOD, "colour": "red"}, SECRETS, "colour: no such setting"),
        ({**GOOD, "url": "ftp://x"}, SECRETS, "url: is no URL"),
        ({**GOOD, "url": "http://u:p@h/v2.0"}, SECRETS, "url: has a user or password"),
        ({**GOOD, "url": "http://h:99999/v2.0"}, SECRETS, "url: is no URL"),
        ({**GOOD, "url": "http://h/v2.0?x=1"}, SECRETS, "url: has a query"),
        ({**GOOD, "call_limit": "soon"}, SECRETS, "call_limit: is a number"),
        ({**GOOD, "call_limit": "0"}, SECRETS, "call_limit: is a number"),
        ({**GOOD, "call_limit": "nan"}, SECRETS, "call_limit: is a number"),
        ({**GOOD, "user": "a\nb"}, SECRETS, "user: has a control character"),
        ({**GOOD, "user": "a" * 256}, SECRETS, "user: has more than 255 bytes"),
        (GOOD, {"password": Secret("\udc80")}, "password: has a control character"),
    ],
)
def test_a_wrong_field_is_named(
    settings: dict[str, str], secrets: dict[str, Secret], field: str
) -> None:
    """The error starts with the field's name, and holds no secret."""
    with pytest.raises(BadRequest) as caught:
        validate("seamicro", settings, secrets)
    assert field in str(caught.value)


def test_all_wrong_fields_are_named_at_once() -> None:
    """A person mends a form in one go."""
    with pytest.raises(BadRequest) as caught:
        validate("seamicro", {"url": "x"}, {})
    assert all(name in str(caught.value) for name in ("url:", "user:", "password:"))


def test_unknown_driver() -> None:
    """An unknown driver is refused with the names of those there are."""
    with pytest.raises(BadRequest, match="seamicro"):
        driver("sm15k")


@pytest.mark.parametrize(
    ("kind", "good", "bad"), [(Kind.FLAG, "on", "yes"), (Kind.CHOICE, "a", "c")]
)
def test_flags_and_choices(kind: Kind, good: str, bad: str) -> None:
    """A flag is on or off, and a choice is one of those declared."""
    setting = Setting(name="x", kind=kind, help="", choices=("a", "b"))
    assert setting.problem(good) is None
    assert setting.problem(bad)


def test_views_tell_all_but_values() -> None:
    """Clients see every setting of every driver, with what is secret marked."""
    seamicro = {view.name: view for view in views()}["seamicro"]
    assert {s.name for s in seamicro.settings if s.secret} == {"password"}
    assert {s.name for s in seamicro.settings if s.required} == {"url", "user", "password"}


@given(st.text(max_size=300))
def test_any_text_is_taken_or_refused(text: str) -> None:
    """No input makes the check itself fail, and no problem repeats what was typed."""
    for setting in driver("seamicro").settings:
        problem = setting.problem(text)
        assert problem is None or problem.startswith(("is", "has"))
