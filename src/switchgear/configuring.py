"""Configuration files of the daemons: JSON, parsed once into attrs values, with every wrong field named."""

import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeVar

import cattrs
from attrs import Attribute, field, frozen
from cattrs.v import format_exception

from switchgear.wire.arguments import CONVERTER

T = TypeVar("T")


class ConfigError(Exception):
    """The configuration can't be used. The text names the file and every field that is wrong."""


def filled(_owner: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Refuse an empty value; an attrs validator."""
    if not value:
        raise ValueError(f"{attribute.name} must not be empty")


def _port(_owner: object, _attribute: "Attribute[int]", value: int) -> None:
    if not 1 <= value <= 65535:
        raise ValueError(f"port must be 1 to 65535, not {value}")


def _loopback(_owner: object, _attribute: "Attribute[str]", value: str) -> None:
    try:
        near = value == "localhost" or ip_address(value).is_loopback
    except ValueError:
        near = False
    if not near:
        raise ValueError(
            f"host must be an address of this host, such as 127.0.0.1, not {value[:60]!r}: "
            "this version speaks without encryption"
        )


@frozen
class Address:
    """A port of this host. This version has no TLS, so nothing else is allowed."""

    host: str = field(validator=_loopback)
    port: int = field(validator=_port)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def load(path: Path, kind: type[T]) -> T:
    """Read a file. Relative paths in it count from its folder. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    return parse(text, path, kind)


def parse(text: str, path: Path, kind: type[T]) -> T:
    """Understand the text of `path`. Raises ConfigError."""
    try:
        plain = json.loads(text)
        if not isinstance(plain, dict):
            raise ConfigError(f"{path}: a JSON object was expected")
        return _converter(path.parent).structure(plain, kind)
    except cattrs.BaseValidationError as error:
        wrong = cattrs.transform_error(error, path="config", format_exception=_words)
        raise ConfigError(f"{path}: {'; '.join(wrong)}") from None
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from None


def _converter(folder: Path) -> cattrs.Converter:
    converter = CONVERTER.copy(forbid_extra_keys=True)
    converter.register_structure_hook(
        Path, lambda value, _: folder / CONVERTER.structure(value, str)
    )
    return converter


def _words(error: BaseException, kind: type | None) -> str:
    """Our own texts and those of the type checks say enough; the rest is put into words by cattrs."""
    if type(error) in (ValueError, TypeError) and str(error):
        return str(error)
    return format_exception(error, kind)
