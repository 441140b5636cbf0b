"""An in-memory chassis: the smallest driver that keeps every promise, for tests and as an example.

Chassis live in `MemoryDriver.chassis` by their setting `chassis`, so that a test can look at and change
the truth behind a driver that was opened from plain settings.
"""

import threading
from collections.abc import Mapping
from typing import ClassVar

from attrs import define, field
from zope.interface import implementer

from drivers.interfaces import DriverError, Fate, IDriver, ISession, Limits
from drivers.settings import Kind, Setting
from switchgear.power import ErrorClass, Fault, Power, Wish
from switchgear.secret import Secret


@define
class MemoryChassis:
    """The truth about one chassis. `fault`: what every call fails with, while it is set."""

    power: dict[str, Power]
    password: str = "memory"  # noqa: S105 # it guards nothing
    fault: DriverError | None = None
    commands: list[tuple[str, Wish]] = field(factory=list)
    sessions: int = 0
    stuck: threading.Event | None = None


@implementer(IDriver)
class MemoryDriver:
    """Chassis that exist only in this process."""

    name = "memory"
    help = "Chassis that exist only in the rack's memory, for tests"
    settings = (
        Setting(
            name="chassis", kind=Kind.TEXT, required=True, help="Which chassis of this process"
        ),
        Setting(name="slots", kind=Kind.TEXT, default="8", help="How many slots it has", limit=4),
        Setting(name="password", kind=Kind.TEXT, secret=True, help="Password of the chassis"),
    )
    #: Every chassis of this process, by name.
    chassis: ClassVar[dict[str, MemoryChassis]] = {}

    def limits(self, settings: Mapping[str, str]) -> Limits:
        """Memory is fast, and shows an effect at once."""
        return Limits(parallel=1, call=5.0, action=10.0, effect=1.0, usual_effect=0.0)

    def open(self, settings: Mapping[str, str], secrets: Mapping[str, Secret]) -> ISession:
        """Open a session to the named chassis, which is made on first use with all slots off."""
        slots = [str(number) for number in range(int(settings.get("slots", "8")))]
        chassis = self.chassis.setdefault(
            settings["chassis"], MemoryChassis(dict.fromkeys(slots, Power.OFF))
        )
        return MemorySession(chassis, secrets.get("password", Secret("memory")))


@implementer(ISession)
class MemorySession:
    """See `ISession`."""

    def __init__(self, chassis: MemoryChassis, password: Secret) -> None:
        self._chassis = chassis
        self._password = password
        self._open = False
        self._aborted = threading.Event()

    def read(self) -> Mapping[str, Power]:
        """Return a copy of the truth."""
        self._enter()
        return dict(self._chassis.power)

    def command(self, slot: str, wish: Wish) -> None:
        """Change the truth."""
        self._enter()
        if slot not in self._chassis.power:
            raise DriverError(
                Fault(ErrorClass.SETTINGS, f"the chassis has no slot {slot}"), Fate.NOT_ACCEPTED
            )
        if wish.power is None:
            raise DriverError(
                Fault(ErrorClass.INTERNAL, "a query is a read, not a command"), Fate.NOT_ACCEPTED
            )
        self._chassis.commands.append((slot, wish))
        self._chassis.power[slot] = wish.power

    def close(self) -> None:
        """Free the session's place."""
        if self._open:
            self._open = False
            self._chassis.sessions -= 1

    def abort(self) -> None:
        """Wake a call that is stuck."""
        self._aborted.set()

    def _enter(self) -> None:
        if self._password.reveal() != self._chassis.password:
            raise DriverError(Fault(ErrorClass.AUTH, "the password is wrong"), Fate.NOT_ACCEPTED)
        if not self._open:
            self._open = True
            self._chassis.sessions += 1
        if self._chassis.fault is not None:
            raise self._chassis.fault
        while self._chassis.stuck is not None and not self._chassis.stuck.wait(0.02):
            if self._aborted.is_set():
                break
        if self._aborted.is_set():
            raise DriverError(Fault(ErrorClass.CONNECTION, "the call was aborted"), Fate.UNKNOWN)
