"""The drivers there are. A driver's vendor library is loaded only when one of its sessions is opened."""

from collections.abc import Mapping

from drivers.interfaces import IDriver
from drivers.memory import MemoryDriver
from drivers.seamicro.driver import SeaMicroDriver
from drivers.settings import validate as _validate
from switchgear.errors import BadRequest
from switchgear.secret import Secret
from switchgear.wire.client import DriverView


def drivers() -> Mapping[str, IDriver]:
    """Return every driver by its name."""
    return {known.name: known for known in (SeaMicroDriver(), MemoryDriver())}


def driver(name: str) -> IDriver:
    """Return the driver of this name. Raises BadRequest that names those there are."""
    known = drivers()
    if name not in known:
        raise BadRequest(f"driver: there is no {name[:40]!r}; there are {', '.join(known)}")
    return known[name]


def validate(
    name: str, settings: Mapping[str, str], secrets: Mapping[str, Secret]
) -> tuple[dict[str, str], dict[str, Secret]]:
    """Check a chassis' settings against its driver; see `drivers.settings.validate`."""
    return _validate(driver(name).settings, settings, secrets)


def views() -> list[DriverView]:
    """Return the drivers and their settings as clients see them."""
    return [
        DriverView(name=known.name, help=known.help, settings=[s.view() for s in known.settings])
        for known in drivers().values()
    ]
