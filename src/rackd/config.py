"""What a rack daemon is told at its start: ``rackd.json``, parsed once."""

from pathlib import Path

from attrs import field, frozen

from switchgear import configuring
from switchgear.configuring import Address, ConfigError, filled

RegionAddress = Address


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

    name: str = field(validator=filled)
    state: Path
    regions: tuple[Address, ...] = field(validator=filled)
    pool: PoolSize = PoolSize()
    log: Path | None = None


def load(path: Path) -> Config:
    """Read the file. Raises ConfigError."""
    return configuring.load(path, Config)


def parse(text: str, path: Path) -> Config:
    """Understand the text of `path`. Raises ConfigError."""
    return configuring.parse(text, path, Config)


__all__ = ["Config", "ConfigError", "PoolSize", "RegionAddress", "load", "parse"]
