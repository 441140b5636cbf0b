"""Configuration files: parsed once, and every wrong field is named."""

from pathlib import Path

import pytest
from attrs import field, frozen

from switchgear.configuring import Address, ConfigError, filled, load, parse

GOOD = '{"name": "r1", "state": "var/r1", "at": {"host": "127.0.0.1", "port": 5241}}'


@frozen(kw_only=True)
class Config:
    """A configuration in the manner of a daemon's."""

    name: str = field(validator=filled)
    state: Path
    at: Address
    log: Path | None = None
    base: int = 4


def _refused(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(text, Path("/etc/x/rackd.json"), Config)
    return str(caught.value)


def test_a_good_file_becomes_a_value(tmp_path: Path) -> None:
    """What is not given has its default, and relative paths count from the file's folder."""
    file = tmp_path / "rackd.json"
    file.write_text(GOOD, encoding="utf-8")
    assert load(file, Config) == Config(
        name="r1", state=tmp_path / "var/r1", at=Address("127.0.0.1", 5241)
    )


def test_an_absolute_path_stays() -> None:
    """Only relative ones are counted from the folder."""
    text = GOOD.replace("var/r1", "/srv/r1")
    assert parse(text, Path("/etc/x/rackd.json"), Config).state == Path("/srv/r1")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (('"name": "r1"', '"name": ""'), "name must not be empty"),
        (('"name": "r1"', '"name": 7'), "str was expected, not int"),
        (('"name": "r1", ', ""), "name"),
        (('"name": "r1"', '"name": "r1", "colour": 1'), "colour"),
        (('"name": "r1"', '"name": "r1", "base": "4"'), "int was expected, not str"),
        (('"name": "r1"', '"name": "r1", "base": true'), "int was expected, not bool"),
        (("5241", "0"), "port must be 1 to 65535, not 0"),
        (("5241", "65536"), "port must be 1 to 65535, not 65536"),
        (('"127.0.0.1"', '"0.0.0.0"'), "host must be an address of this host"),
        (('"127.0.0.1"', '"10.0.0.5"'), "host must be an address of this host"),
        (('"127.0.0.1"', '"region.example"'), "host must be an address of this host"),
    ],
)
def test_a_wrong_field_is_named(change: tuple[str, str], named: str) -> None:
    """The text names the file and the field, in words for an operator."""
    text = _refused(GOOD.replace(*change))
    assert text.startswith("/etc/x/rackd.json: ")
    assert named in text


def test_all_wrong_fields_are_named_at_once() -> None:
    """An operator mends the file in one go."""
    text = _refused('{"name": 7, "state": "x", "at": {"host": "10.0.0.5", "port": 0}, "base": "4"}')
    assert all(field in text for field in ("config.name", "config.at", "config.base"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_any_address_of_this_host_will_do(host: str) -> None:
    """This version speaks without encryption, so only these are allowed."""
    assert str(Address(host, 5241)) == f"{host}:5241"


@pytest.mark.parametrize("text", ["", "{", '{"name": }', "\ufeff{}"])
def test_what_is_not_json_is_named_as_such(text: str) -> None:
    """The place of the mistake is told, too."""
    assert "is not JSON" in _refused(text)


@pytest.mark.parametrize("text", ["[]", "null", "7", '"x"'])
def test_json_of_another_shape_is_refused(text: str) -> None:
    """It must be an object; nothing else is taken for an empty one."""
    assert _refused(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Missing, a folder, or not UTF-8: the error is always ours, with the path."""
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe{}")
    for path in (tmp_path / "missing.json", tmp_path, binary):
        with pytest.raises(ConfigError, match="cannot be read") as caught:
            load(path, Config)
        assert str(path) in str(caught.value)
