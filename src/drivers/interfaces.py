"""What a driver promises to the rack that uses it.

A driver is synchronous: it runs in a pool thread, one call at a time for each session. What it must get
right is not speed but truth: a state is reported only if the device said exactly that, and a command
that failed says what is known of its fate.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum, unique

from attrs import frozen
from zope.interface import Attribute, Interface

from drivers.settings import Setting
from switchgear.power import Fault, Power, Wish
from switchgear.secret import Secret


@unique
class Fate(StrEnum):
    """What is known of a command whose call failed."""

    NOT_ACCEPTED = "not-accepted"
    UNKNOWN = "unknown"


class DriverError(Exception):
    """The device could not be read or did not take a command. The only exception a session raises.

    `fault` says why, in words fit for an operator. `fate` tells whether a command may have arrived; a
    call that may have reached the device is UNKNOWN, whatever the driver believes.
    """

    def __init__(self, fault: Fault, fate: Fate = Fate.UNKNOWN) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.fate = fate


@frozen(kw_only=True)
class Limits:
    """What the hardware behind a driver can bear, and how long it may take; all times in seconds.

    parallel: calls in execution at once, over everything that speaks to the chassis.
    call: longest time one call may take; then it is aborted.
    action: longest time an operation may be without progress once the chassis started on it.
    effect: longest time from an accepted command until a read shows it.
    usual_effect: a first guess of the usual one; the chassis queue learns the real one.
    """

    parallel: int = 1
    call: float = 40.0
    action: float = 300.0
    effect: float = 120.0
    usual_effect: float = 3.0


class ISession(Interface):
    """A conversation with one chassis. Used by one thread at a time, except `abort`."""

    def read() -> Mapping[str, Power]:
        """Return the power of every slot that the chassis has, as it says now.

        A slot whose answer is not exactly a state is `Power.UNKNOWN`. Raises DriverError.
        """

    def command(slot: str, wish: Wish) -> None:
        """Ask for `Wish.ON` or `Wish.OFF` (hard) of one slot; return when the chassis accepted it.

        Raises DriverError with the command's fate; never sends a command twice by itself.
        """

    def close() -> None:
        """End the conversation and free the login. Never raises; safe to call twice."""

    def abort() -> None:
        """Make a call in progress fail within a second, with fate UNKNOWN. May come from any thread.

        The session can't be used afterwards, but must still be closed.
        """


class IDriver(Interface):
    """One kind of chassis."""

    name: str = Attribute("How settings and people name the driver, such as ``seamicro``.")
    help: str = Attribute("One sentence for a person who chooses a driver.")
    settings: Sequence[Setting] = Attribute("What a chassis of this kind takes, see `Setting`.")

    def limits(settings: Mapping[str, str]) -> Limits:
        """Return the limits of a chassis with these (validated) settings."""

    def open(settings: Mapping[str, str], secrets: Mapping[str, Secret]) -> ISession:
        """Return a session for validated settings. Sends nothing to the device yet."""
