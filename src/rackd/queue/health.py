"""Whether the chassis can be spoken to: failures in a row, the pause after them, and refused logins."""

from attrs import define

from rackd.queue.pace import Pace
from switchgear.power import ErrorClass, Fault

#: Classes after which the same call may be made again.
REPEATABLE = frozenset(
    {ErrorClass.BUSY, ErrorClass.CONNECTION, ErrorClass.TIMED_OUT, ErrorClass.INTERNAL}
)
#: Refused logins after which no more are tried: more could lock the account.
REFUSALS = 2
#: Failures in a row after which the chassis counts as unreachable; one can be chance.
UNREACHABLE = 2


@define
class Condition:
    """The state of the chassis as its calls show it."""

    pace: Pace
    failures: int = 0
    failing_since: float = 0.0
    refusals: int = 0
    paused_until: float = 0.0
    fault: Fault | None = None
    locked_for: int | None = None

    def worked(self) -> None:
        """A call ended well."""
        self.failures = self.refusals = 0
        self.paused_until = 0.0
        self.fault = None

    def failed(self, fault: Fault, began: float, now: float, credentials: int) -> None:
        """A call that began at `began` failed in a way that concerns the whole chassis."""
        if not self.failures:
            self.failing_since = began
        self.failures += 1
        self.paused_until = now + self.pace.pause(self.failures)
        self.refusals = self.refusals + 1 if fault.kind is ErrorClass.AUTH else 0
        if self.refusals >= REFUSALS:
            self.locked_for = credentials
        if self.failures >= UNREACHABLE or self.locked_for is not None:
            self.fault = fault

    def locked(self, credentials: int) -> bool:
        """Tell whether these credentials were refused too often to be tried again."""
        return self.locked_for == credentials

    def new_credentials(self) -> None:
        """Try again at once: what was refused does not count any more."""
        self.refusals, self.locked_for, self.paused_until = 0, None, 0.0
