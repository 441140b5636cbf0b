import pytest

from regiond.record.sealing import Keys
from switchgear.errors import Conflict
from switchgear.secret import Secret

SECRETS = {"password": Secret("Grün€7"), "pin": Secret("0123456")}


def test_what_was_sealed_comes_back_and_does_not_show() -> None:
    """Secrets come back to the letter; their sealed form is new each time and has none of them in it."""
    keys = Keys(b"k" * 32)
    sealed = keys.seal("sm-1", SECRETS)
    assert keys.unseal("sm-1", sealed) == SECRETS
    assert "Grün€7".encode() not in sealed
    assert keys.seal("sm-1", SECRETS) != sealed


def test_sealed_secrets_fit_one_chassis_and_one_key_and_no_change() -> None:
    """Secrets moved to another chassis, changed, or sealed with another key are refused."""
    keys = Keys(b"k" * 32)
    sealed = keys.seal("sm-1", SECRETS)
    for name, text in [("sm-2", sealed), ("sm-1", sealed[:-1] + b"x"), ("sm-1", b"")]:
        with pytest.raises(Conflict):
            keys.unseal(name, text)
    with pytest.raises(Conflict, match="another key"):
        Keys(b"x" * 32).unseal("sm-1", sealed)


def test_a_key_has_32_bytes() -> None:
    """A key file of another size is refused."""
    with pytest.raises(ValueError, match="31"):
        Keys(b"k" * 31)
