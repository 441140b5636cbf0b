"""Errors that cross a border: each has a code of its own and a text for a user."""

from switchgear import errors
from switchgear.errors import SwitchgearError
from switchgear.wire.errors import AMP_ERRORS


def _kinds() -> list[type[SwitchgearError]]:
    return [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, SwitchgearError)
    ]


def test_each_class_has_its_own_code() -> None:
    """Code on the other side of the wire tells them apart by nothing else."""
    codes = [kind.code for kind in _kinds()]
    assert len(codes) == len(set(codes))


def test_codes_never_change() -> None:
    """An older client must still understand them."""
    assert {kind.code for kind in _kinds()} >= {
        "INTERNAL",
        "BAD_REQUEST",
        "NO_SUCH_THING",
        "CONFLICT",
        "TRY_AGAIN",
        "STALE_EPOCH",
        "VERSION_MISMATCH",
        "BUG",
    }


def test_each_class_says_who_can_act() -> None:
    """The docstring is shown to users, so none inherits the one of its base."""
    assert all(kind.__dict__.get("__doc__") for kind in _kinds())


def test_every_error_travels_under_its_own_code() -> None:
    """The base class is for catching only; whatever is raised reaches the other side as itself."""
    assert set(AMP_ERRORS) == set(_kinds()) - {SwitchgearError}
    assert all(code == kind.code.encode() for kind, code in AMP_ERRORS.items())


def test_a_special_error_stands_before_its_base() -> None:
    """AMP takes the first class that fits, and a missing node must not become a mere bad request."""
    order = list(AMP_ERRORS)
    for place, kind in enumerate(order):
        assert not any(issubclass(later, kind) for later in order[place + 1 :])
