"""The books of one chassis queue: its whole state, and how operations leave it."""

from math import inf

from attrs import define, field

from drivers.interfaces import Limits
from rackd.queue.health import Condition
from rackd.queue.memory import Sent
from rackd.queue.pace import Pace
from rackd.queue.telling import Teller
from rackd.queue.values import CloseSession, Found
from rackd.queue.work import Asked, Work
from rackd.queue.works import Works
from switchgear.operation import Outcome
from switchgear.power import ErrorClass, Fault, Power


@define
class Call:
    """The call in execution. `work`: whose command it is; None for a read.

    `before`: what was remembered of the slot before this command.
    """

    call: int
    began: float
    epoch: int
    number: int = 0
    work: Work | None = None
    before: Sent | None = None


@define
class Books:
    """What a chassis queue knows. `tickets`: discoveries, with the last read that began before each."""

    limits: Limits
    pace: Pace
    tell: Teller
    condition: Condition
    works: Works = field(factory=Works)
    sent: dict[str, Sent] = field(factory=dict)
    tickets: dict[str, int] = field(factory=dict)
    running: Call | None = None
    calls: int = 0
    reads: int = 0
    last_read: float = -inf
    epoch: int = 0
    until: float = -inf
    credentials: int = 0
    is_open: bool = False
    draining: bool = False

    @property
    def locked(self) -> bool:
        """Tell whether the chassis refused these credentials too often to be asked again."""
        return self.condition.locked(self.credentials)

    def close(self) -> None:
        """Have the session closed before the next call."""
        if self.is_open:
            self.is_open = False
            self.tell.out.append(CloseSession())

    def end(
        self, work: Work, asked: Asked, outcome: Outcome, power: Power, fault: Fault | None = None
    ) -> None:
        """End one operation."""
        if asked.cancelled and outcome is Outcome.SUCCEEDED:
            outcome = Outcome.CANCELLED
            fault = refused("it was cancelled after its command was sent")
        self.tell.result(work, asked, outcome, power, fault)
        self.works.end(work, asked)

    def end_all(self, work: Work, outcome: Outcome, power: Power, fault: Fault) -> None:
        """End every operation of a piece of work."""
        for asked in list(work.asked):
            self.end(work, asked, outcome, power, fault)

    def fail_everything(self, fault: Fault) -> None:
        """End all work and all discoveries: nothing can be done on this chassis."""
        for work in list(self.works.all()):
            self.end_all(work, Outcome.FAILED, Power.UNKNOWN, fault)
        self.fail_tickets(fault)

    def fail_tickets(self, fault: Fault) -> None:
        """End all discoveries."""
        for ticket in self.tickets:
            self.tell.out.append(Found(ticket, fault))
        self.tickets.clear()

    def fail_if_locked(self) -> None:
        """End everything at once while the credentials are refused: no login is tried, no one waits."""
        if self.locked:
            text = "the chassis refused the user or password twice; change them to try again"
            self.fail_everything(Fault(ErrorClass.AUTH, text))


def refused(text: str) -> Fault:
    """Build the reason of an operation that somebody's wish ended."""
    return Fault(ErrorClass.REFUSED, text)
