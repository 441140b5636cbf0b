"""One chassis on this rack: its pure queue, with the calls, the journal and the timer that it asks for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import assert_never

from attrs import frozen
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from rackd.calls import Calls, Outcome, Pool
from rackd.conversation import Conversation
from rackd.journal import Journal
from rackd.leases import Lease
from rackd.queue import (
    Action,
    ChassisQueue,
    CloseSession,
    Found,
    Intent,
    StartCommand,
    StartRead,
    Tell,
)
from rackd.terms import Terms
from switchgear.power import Fault, Power
from switchgear.wire.rack import Order, Seen

#: Shortest wait for the queue's next turn, in seconds: rounding must not become a busy loop.
SHORTEST = 0.001


@frozen(kw_only=True)
class Surroundings:
    """What every chassis of a rack shares. `tell` and `found`: see `rackd.reporter.Reporter`."""

    clock: IReactorTime
    pool: Pool
    journal: Journal
    tell: Callable[[Iterable[Seen]], None]
    found: Callable[[str, Mapping[str, Power] | Fault], None]
    chance: Callable[[], float]


class Chassis:
    """Feeds the queue and does what it says, in the reactor's thread."""

    _log = Logger()

    def __init__(self, name: str, terms: Terms, around: Surroundings) -> None:
        self.name = name
        self._around = around
        self._clock = around.clock
        self._lease = Lease(0, 0.0)
        self._wake: IDelayedCall | None = None
        self._conversation = Conversation(name, terms, around.journal, around.clock.seconds)
        self._calls = Calls(
            chassis=name,
            clock=around.clock,
            pool=around.pool,
            conversation=self._conversation,
            ended=self._ended,
        )
        self._begin(terms)

    @property
    def settled(self) -> bool:
        """Whether nothing runs, nothing waits for an effect, and no session is open."""
        return self._queue.idle and self._calls.idle

    @property
    def silent(self) -> bool:
        """Whether no call runs and no session is open."""
        return self._calls.idle

    @property
    def credentials(self) -> int:
        """The number of the settings that are used."""
        return self._conversation.terms.credentials

    def granted(self, lease: Lease, terms: Terms) -> None:
        """Go on with this lease and these terms."""
        self._lease = lease
        self._queue.use(terms.limits)
        self._conversation.use(terms)
        self._do(
            self._queue.lease(
                self._clock.seconds(),
                epoch=lease.epoch,
                until=lease.until,
                credentials=terms.credentials,
            )
        )

    def revoked(self) -> None:
        """Begin no call any more before the next grant: the record was restored without this lease."""
        self.granted(Lease(self._lease.epoch, self._clock.seconds()), self._conversation.terms)
        self.end_session()

    def dispatch(self, orders: Sequence[Order]) -> int:
        """Take orders; return the number of the last read that began before them."""
        mark = self._queue.read_mark
        self._do(self._queue.submit(self._clock.seconds(), list(orders)))
        return mark

    def cancel(self, operations: Sequence[str]) -> None:
        """Cancel operations that wait; watch those whose command was sent."""
        self._do(self._queue.cancel(self._clock.seconds(), list(operations)))

    def discover(self, ticket: str) -> None:
        """Read the chassis afresh; what it shows goes to `Surroundings.found`."""
        self._do(self._queue.discover(self._clock.seconds(), ticket))

    def drain(self) -> None:
        """Start nothing new; only confirm what was commanded."""
        self._do(self._queue.drain(self._clock.seconds()))

    def give_up(self) -> None:
        """Abort what runs and close the session after it."""
        self._calls.give_up()
        self.end_session()

    def end_session(self) -> None:
        """Close the session: the lease ran out, or the rack stops."""
        self._calls.close_session()

    def forget(self) -> None:
        """Stop the timer; this chassis is not used again."""
        if self._wake is not None and self._wake.active():
            self._wake.cancel()
        self._wake = None

    def _begin(self, terms: Terms) -> None:
        """Begin a queue with the limits of these terms, and with what was commanded before."""
        self._queue = ChassisQueue(
            chassis=self.name, limits=terms.limits, chance=self._around.chance
        )
        for line in self._around.journal.left(self.name):
            intent = Intent(
                slot=line.slot, wish=line.wish, sent_at=line.at, operation=line.operation
            )
            self._do(self._queue.remember(self._clock.seconds(), intent))

    def _ended(self, call: int, outcome: Outcome) -> None:
        self._do(self._queue.ended(self._clock.seconds(), call, outcome))

    def _tick(self) -> None:
        self._wake = None
        self._do(self._queue.tick(self._clock.seconds()))

    def _do(self, actions: Iterable[Action]) -> None:
        """Do what the queue says, in its order; then set the timer for its next turn."""
        news: list[Seen] = []
        for action in actions:
            match action:
                case StartRead() | StartCommand():
                    self._calls.start(action, self._lease.until)
                case CloseSession():
                    self._calls.close_session()
                case Tell():
                    news.append(action.seen)
                case Found():
                    self._around.found(action.ticket, action.found)
                case _ as never:
                    assert_never(never)
        if news:
            self._around.tell(news)
        self._set_timer()

    def _set_timer(self) -> None:
        self.forget()
        wake_at = self._queue.wake_at
        if wake_at is not None:
            wait = max(SHORTEST, wake_at - self._clock.seconds())
            self._wake = self._clock.callLater(wait, self._tick)
