"""What a region daemon is told at its start: ``regiond.json``, parsed once."""

from pathlib import Path

from attrs import field, frozen

from switchgear.configuring import Address, filled


@frozen
class PoolSize:
    """Threads: `base` are kept, at most `ceiling` are made. `leases`: database connections at most.

    None for `leases` means: as many as the server can spare, and no more than `ceiling`.
    """

    base: int = 10
    ceiling: int = 40
    leases: int | None = None

    def __attrs_post_init__(self) -> None:
        if not 1 <= self.base <= self.ceiling:
            raise ValueError(
                f"base must be 1 to ceiling; here base is {self.base}, ceiling {self.ceiling}"
            )
        if self.leases is not None and self.leases < 1:
            raise ValueError(f"leases must be 1 or more, not {self.leases}")


@frozen(kw_only=True)
class Config:
    """A region daemon's configuration. `dsn`: a libpq connection string; `log`: None for standard error.

    `key_file` holds the key of the chassis' secrets; it is made at the first start.
    """

    dsn: str = field(validator=filled, repr=False)
    key_file: Path
    web: Address
    clients: Address
    racks: Address
    name: str = "region"
    pool: PoolSize = PoolSize()
    log: Path | None = None
