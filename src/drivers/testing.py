"""The contract suite: what every driver must prove against its device, real, simulated or in memory.

Subclass `DriverContract` together with ``unittest.TestCase`` and give it a `Bench`. The in-memory driver
passes it too, so what the suite says is about drivers and not about one device.
"""

import threading
import time
from collections.abc import Mapping
from typing import Protocol
from unittest import TestCase

from zope.interface.verify import verifyObject

from drivers.interfaces import DriverError, Fate, IDriver, ISession
from drivers.settings import validate
from switchgear.power import ErrorClass, Power, Wish
from switchgear.secret import Secret


class Bench(Protocol):
    """A device on the test bench: how to reach it, and the truth behind the driver's back."""

    driver: IDriver
    settings: Mapping[str, str]
    secrets: Mapping[str, Secret]
    slot: str

    def truth(self, slot: str) -> Power:
        """Return the state that the device is really in (or is on its way to)."""
        ...

    def commands(self) -> int:
        """Return how many commands the device has taken."""
        ...

    def sessions(self) -> int:
        """Return how many sessions are open at the device."""
        ...

    def change_password(self) -> None:
        """Make the password that the driver has a wrong one."""
        ...

    def freeze(self) -> None:
        """Make the device take requests and never answer."""
        ...

    def fail(self) -> None:
        """Make every request fail in the device's own way, so that a command's fate is unknown."""
        ...


class DriverContract(TestCase):
    """Promises of `IDriver` and `ISession`. `build_bench` gives a device with its slot switched off."""

    #: Set by the suite's users; the suite itself is never run.
    __test__ = False

    def build_bench(self) -> Bench:
        """Return a fresh bench; register its end with `addCleanup`."""
        raise NotImplementedError

    def setUp(self) -> None:
        """Open a session to a fresh device."""
        self.bench = self.build_bench()
        settings, secrets = validate(
            self.bench.driver.settings, self.bench.settings, self.bench.secrets
        )
        self.settings, self.secrets = settings, secrets
        self.session: ISession = self.bench.driver.open(settings, secrets)
        self.addCleanup(self.session.close)

    def _await_power(self, power: Power) -> Mapping[str, Power]:
        """Read until the slot shows `power`, within the driver's own effect limit."""
        deadline = time.monotonic() + self.bench.driver.limits(self.settings).effect
        while time.monotonic() < deadline:
            powers = self.session.read()
            if powers.get(self.bench.slot) is power:
                return powers
            threading.Event().wait(0.05)
        raise AssertionError(f"{self.bench.slot} never showed {power}")

    def test_interfaces(self) -> None:
        """The driver and its session have what the interfaces declare."""
        verifyObject(IDriver, self.bench.driver)
        verifyObject(ISession, self.session)

    def test_limits_are_sane(self) -> None:
        """No limit is zero, and the usual effect does not exceed the longest."""
        limits = self.bench.driver.limits(self.settings)
        assert limits.parallel >= 1
        assert min(limits.call, limits.action, limits.effect) > 0
        assert 0 <= limits.usual_effect <= limits.effect

    def test_open_sends_nothing(self) -> None:
        """A session that was only opened is not a session of the device yet."""
        assert self.bench.sessions() == 0

    def test_read_knows_the_slot(self) -> None:
        """A read names every slot with its true state."""
        assert self.session.read()[self.bench.slot] is Power.OFF

    def test_on_and_off(self) -> None:
        """A command is taken once, and reads show its effect."""
        before = self.bench.commands()
        self.session.command(self.bench.slot, Wish.ON)
        self._await_power(Power.ON)
        assert self.bench.truth(self.bench.slot) is Power.ON
        self.session.command(self.bench.slot, Wish.OFF)
        self._await_power(Power.OFF)
        assert self.bench.commands() - before == 2

    def test_one_session(self) -> None:
        """Many calls keep one session at the device, and a close ends it."""
        for _ in range(3):
            self.session.read()
        assert self.bench.sessions() == 1
        self.session.close()
        self.session.close()
        deadline = time.monotonic() + 5
        while self.bench.sessions() and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        assert self.bench.sessions() == 0

    def test_wrong_password(self) -> None:
        """A refused login is class auth, and the command was surely not accepted."""
        self.bench.change_password()
        before = self.bench.commands()
        for call in (self.session.read, lambda: self.session.command(self.bench.slot, Wish.ON)):
            with self.assertRaises(DriverError) as caught:
                call()
            assert caught.exception.fault.kind is ErrorClass.AUTH
            assert caught.exception.fate is Fate.NOT_ACCEPTED
        assert self.bench.commands() == before

    def test_unknown_slot(self) -> None:
        """A slot that the device does not have can't be commanded."""
        with self.assertRaises(DriverError) as caught:
            self.session.command("no-such-slot", Wish.ON)
        assert caught.exception.fate is Fate.NOT_ACCEPTED
        assert caught.exception.fault.kind in (ErrorClass.SETTINGS, ErrorClass.REFUSED)

    def test_failure_is_told(self) -> None:
        """A command that fails inside of the device is an error of unknown fate, never success."""
        self.bench.fail()
        with self.assertRaises(DriverError) as caught:
            self.session.command(self.bench.slot, Wish.ON)
        assert caught.exception.fate is Fate.UNKNOWN

    def test_abort_wakes_a_stuck_call(self) -> None:
        """A call that hangs ends soon after an abort from another thread, and the session is closable."""
        self.bench.freeze()
        timer = threading.Timer(0.3, self.session.abort)
        timer.start()
        self.addCleanup(timer.join)
        started = time.monotonic()
        with self.assertRaises(DriverError) as caught:
            self.session.read()
        assert caught.exception.fate is Fate.UNKNOWN
        assert time.monotonic() - started < min(5.0, self.bench.driver.limits(self.settings).call)
        self.session.close()

    def test_errors_hide_secrets(self) -> None:
        """No secret appears in an error, nor in anything it was caused by."""
        self.bench.change_password()
        with self.assertRaises(DriverError) as caught:
            self.session.read()
        chain: BaseException | None = caught.exception
        while chain is not None:
            for secret in self.secrets.values():
                assert secret.reveal() not in f"{chain!s} {chain!r}"
            chain = chain.__cause__ or chain.__context__
