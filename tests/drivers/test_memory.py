"""The in-memory driver passes the contract."""

import threading
import uuid

from attrs import define, field

from drivers.interfaces import DriverError, Fate
from drivers.memory import MemoryChassis, MemoryDriver
from drivers.testing import DriverContract
from switchgear.power import ErrorClass, Fault, Power
from switchgear.secret import Secret


@define
class MemoryBench:
    """A chassis of this process on the bench."""

    driver: MemoryDriver = field(factory=MemoryDriver)
    settings: dict[str, str] = field(factory=lambda: {"chassis": uuid.uuid4().hex})
    secrets: dict[str, Secret] = field(factory=lambda: {"password": Secret("memory")})
    slot: str = "3"

    @property
    def chassis(self) -> MemoryChassis:
        self.driver.open({**self.settings, "slots": "8"}, self.secrets)
        return MemoryDriver.chassis[self.settings["chassis"]]

    def truth(self, slot: str) -> Power:
        return self.chassis.power[slot]

    def commands(self) -> int:
        return len(self.chassis.commands)

    def sessions(self) -> int:
        return self.chassis.sessions

    def change_password(self) -> None:
        self.chassis.password = "another"

    def freeze(self) -> None:
        self.chassis.stuck = threading.Event()

    def fail(self) -> None:
        fault = Fault(ErrorClass.CONNECTION, "the chassis failed inside")
        self.chassis.fault = DriverError(fault, Fate.UNKNOWN)


class MemoryContractTests(DriverContract):
    """See `DriverContract`."""

    __test__ = True

    def build_bench(self) -> MemoryBench:
        return MemoryBench()
