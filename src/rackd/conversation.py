"""The thread's side of a chassis' calls: its one session, and what each call came to, as a value.

Its methods run in pool threads, one at a time for each chassis; only `use` and `abort` are called
from the reactor's thread meanwhile.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from twisted.logger import Logger

from drivers.interfaces import DriverError, Fate, ISession
from rackd.journal import End, Journal, Line
from rackd.queue import Accepted, Answered, Broke, StartCommand
from rackd.terms import Terms
from switchgear.power import SLOT_LIMIT, ErrorClass, Fault, Power, cut

T = TypeVar("T")


class Conversation:
    """One chassis as the threads speak to it. No method raises."""

    _log = Logger()

    def __init__(
        self, chassis: str, terms: Terms, journal: Journal, now: Callable[[], float]
    ) -> None:
        self._chassis = chassis
        self._terms = terms
        self._journal = journal
        self._now = now
        self._session: ISession | None = None
        self._opened_for = 0

    @property
    def terms(self) -> Terms:
        """The terms of the newest grant."""
        return self._terms

    @property
    def is_open(self) -> bool:
        """Whether there is a session to close."""
        return self._session is not None

    def use(self, terms: Terms) -> None:
        """Speak on these terms from the next call on."""
        self._terms = terms

    def read(self) -> Answered | Broke:
        """Read the whole chassis."""
        return self._attempt(lambda session: Answered(_named(session.read())))

    def command(self, call: StartCommand) -> Accepted | Broke:
        """Write the intent down, send the command once, and note what is known of it."""
        line = Line(
            chassis=self._chassis,
            slot=call.slot,
            wish=call.wish,
            operation=call.operation,
            at=self._now(),
            boot="",
            # A call that was cut off by our death may be in execution for its whole limit, and its effect
            # comes only after that: the intent must not be forgotten before.
            effect=self._terms.limits.effect + self._terms.limits.call,
        )
        outcome: Accepted | Broke | None = self._intended(line)
        if outcome is None:
            outcome = self._attempt(lambda session: self._accepted(session, call))
        self._journal.ended(line, _end(outcome))
        return outcome

    def close(self) -> None:
        """End the session, if there is one."""
        session, self._session = self._session, None
        if session is None:
            return
        try:
            session.close()
        except Exception:  # noqa: BLE001 - a driver's defect must not take the chassis' queue along
            self._log.failure("closing the session of {chassis} failed", chassis=self._chassis)

    def abort(self) -> None:
        """Make a call in progress fail soon."""
        session = self._session
        if session is None:
            return
        try:
            session.abort()
        except Exception:  # noqa: BLE001 - the same
            self._log.failure("aborting a call to {chassis} failed", chassis=self._chassis)

    def _accepted(self, session: ISession, call: StartCommand) -> Accepted:
        session.command(call.slot, call.wish)
        return Accepted()

    def _intended(self, line: Line) -> Broke | None:
        try:
            self._journal.intend(line)
        except OSError as error:
            return Broke(
                Fault(ErrorClass.INTERNAL, f"the rack could not write its journal: {error}"),
                Fate.NOT_ACCEPTED,
            )
        return None

    def _attempt(self, call: Callable[[ISession], T]) -> T | Broke:
        """Make one call in the session. What is no `DriverError` is a defect, and of unknown fate."""
        fate = Fate.NOT_ACCEPTED
        try:
            session = self._current()
            fate = Fate.UNKNOWN
            return call(session)
        except DriverError as error:
            return Broke(error.fault, error.fate)
        except Exception as error:  # noqa: BLE001 - whatever a driver raises ends this call only
            self._log.failure("the driver of {chassis} failed", chassis=self._chassis)
            text = f"the driver failed: {type(error).__name__}; see the rack's log"
            return Broke(Fault(ErrorClass.INTERNAL, text), fate)

    def _current(self) -> ISession:
        """Return the open session, or open one; after a change of credentials, a new one."""
        terms = self._terms
        if self._session is not None and self._opened_for != terms.credentials:
            self.close()
        if self._session is None:
            self._session = terms.open()
            self._opened_for = terms.credentials
        return self._session


def _named(powers: Mapping[str, Power]) -> dict[str, Power]:
    """Return the powers under names that can be sent: a chassis may call its slots anything."""
    return {cut(slot, SLOT_LIMIT): power for slot, power in powers.items()}


def _end(outcome: Accepted | Broke) -> End:
    if isinstance(outcome, Accepted):
        return End.ACCEPTED
    return End.UNKNOWN if outcome.fate is Fate.UNKNOWN else End.NOT_ACCEPTED
