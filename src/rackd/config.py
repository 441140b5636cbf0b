"""What a rack daemon is told at its start: ``rackd.json``, parsed once."""

import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import cattrs
from attrs import Attribute, field, frozen
from cattrs.v import format_exception

from switchgear.wire.arguments import CONVERTER


class ConfigError(Exception):
    """The configuration can't be used. The text names the file and every field that is wrong."""


def _filled(_owner: object, attribute: "Attribute[Any]", value: Any) -> None:
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
            "this version speaks to a region without encryption"
        )


@frozen
class RegionAddress:
    """Where a region listens for racks."""

    host: str = field(validator=_loopback)
    port: int = field(validator=_port)


@frozen
class PoolSize:
    """Threads: `base` are kept, up to `ceiling` are made when work would otherwise starve."""

    base: int = 4
    ceiling: int = 40

    def __attrs_post_init__(self) -> None:
        if not 1 <= self.base <= self.ceiling:
            raise ValueError(
                f"base must be 1 to ceiling; here base is {self.base}, ceiling {self.ceiling}"
            )


@frozen(kw_only=True)
class Config:
    """A rack daemon's configuration. `state`: its folder; `log`: a file, None for standard error."""

    name: str = field(validator=_filled)
    state: Path
    regions: tuple[RegionAddress, ...] = field(validator=_filled)
    pool: PoolSize = PoolSize()
    log: Path | None = None


def load(path: Path) -> Config:
    """Read the file. Relative paths in it count from its folder. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    return parse(text, path)


def parse(text: str, path: Path) -> Config:
    """Understand the text of `path`. Raises ConfigError."""
    try:
        return _converter(path.parent).structure(json.loads(text), Config)
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
