"""Tells the regions what was seen and done, until one of them has committed it.

    quiet --tell--> gathering (50 ms) --> sending --all committed--> quiet
                                             |
                          no region linked --+--> quiet, until one is linked

One message is under way at a time, so that what is told keeps its order.
"""

from collections.abc import Iterable, Mapping

from attrs import Factory, define, frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.defer import TimeoutError as TimedOut
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.protocols import amp
from twisted.python.failure import Failure

from rackd.links import Link, Links
from rackd.outbox import Outbox
from switchgear.errors import BadRequest, SwitchgearError, TryAgain
from switchgear.power import Fault, Power
from switchgear.wire.arguments import pages
from switchgear.wire.rack import Discovered, FoundSlot, Report, Seen

#: Seconds that news are gathered before they are sent, so that a burst is one message.
GATHER = 0.05
#: Seconds until a message that a region could not take is sent again.
AGAIN = 1.0
#: Seconds that a region may take to commit a message; then another one is asked. Twice is harmless.
LIMIT = 15.0
#: Most discoveries that are kept for the regions; a region asks again for what it did not get.
DISCOVERIES = 100


@frozen(kw_only=True)
class _Page:
    """One message of a discovery's answer."""

    ticket: str
    slots: list[FoundSlot]
    more: bool
    fault: Fault | None = None


@define
class _Found:
    """The pages of the discoveries' answers that are not yet told."""

    pages: dict[str, list[_Page]] = Factory(dict)

    def add(self, ticket: str, found: Mapping[str, Power] | Fault) -> None:
        if len(self.pages) < DISCOVERIES:
            self.pages[ticket] = _pages(ticket, found)

    def first(self) -> _Page | None:
        return next((known[0] for known in self.pages.values()), None)

    def drop(self, page: _Page, whole: bool = False) -> None:
        known = self.pages.get(page.ticket, [])
        if whole or known[:1] == [page]:
            known[:] = [] if whole else known[1:]
        if not known:
            self.pages.pop(page.ticket, None)


class Reporter:
    """Takes news at any time and sends them whenever a region is linked."""

    _log = Logger()

    def __init__(self, clock: IReactorTime, links: Links) -> None:
        self._clock = clock
        self._links = links
        self._outbox = Outbox()
        self._found = _Found()
        self._sending: Deferred[None] | None = None
        self._alone = False
        self._complained = ""
        self._flushed: list[Deferred[None]] = []
        links.on_linked = self._soon

    def tell(self, items: Iterable[Seen]) -> None:
        """Tell a region of these, in their order."""
        self._outbox.add(self._clock.seconds(), items)
        self._soon()

    def found(self, ticket: str, found: Mapping[str, Power] | Fault) -> None:
        """Tell a region what a discovery found, or why it found nothing."""
        self._found.add(ticket, found)
        self._soon()

    async def flush(self, limit: float) -> bool:
        """Wait until everything is told, `limit` seconds at most; return whether it is."""
        if self._pending():
            done: Deferred[None] = Deferred()
            self._flushed.append(done)
            self._soon()
            try:
                await done.addTimeout(limit, self._clock)
            except TimedOut:
                self._flushed.remove(done)
        return not self._pending()

    def stop(self) -> None:
        """Send nothing more. What is not told by now is not told: the region will look again."""
        if self._sending is not None:
            self._sending.cancel()

    def _pending(self) -> bool:
        return bool(len(self._outbox) or self._found.pages)

    def _soon(self) -> None:
        """Begin to send in a moment, if there is anything to send and a region to send it to."""
        if self._sending is None and self._pending() and len(self._links):
            self._sending = Deferred.fromCoroutine(self._send_all())
            self._sending.addErrback(self._failed)

    def _failed(self, failure: Failure) -> None:
        self._sending = None
        if not failure.check(CancelledError):
            self._log.failure("the reporter failed", failure=failure)

    async def _send_all(self) -> None:
        await deferLater(self._clock, GATHER)
        while self._pending() and (link := self._links.first()) is not None:
            pause = await self._send_one(link)
            if pause:
                await deferLater(self._clock, pause)
        self._sending = None
        if not self._pending():
            flushed, self._flushed = self._flushed, []
            for done in flushed:
                done.callback(None)

    async def _send_one(self, link: Link) -> float:
        """Send the next message; return the seconds to wait before another one."""
        try:
            if len(self._outbox):
                await self._report(link)
            elif (page := self._found.first()) is not None:
                await self._discovered(link, page)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, what was to be told is kept
            return self._after(link, error)
        self._complained = ""
        return 0.0

    async def _report(self, link: Link) -> None:
        items = self._outbox.batch(self._clock.seconds(), self._alone)
        try:
            await link.callRemote(Report, items=items).addTimeout(LIMIT, self._clock)
        except SwitchgearError as error:
            self._refused(items, error)
            raise
        except (amp.TooLong, TypeError, ValueError) as error:
            # It could not even be written: that is the same as a region that can't read it.
            self._refused(items, BadRequest(f"{type(error).__name__}: {error}"))
            raise
        except BaseException:
            self._outbox.unsent()
            raise
        self._outbox.sent()
        self._alone = False

    def _refused(self, items: list[Seen], error: SwitchgearError) -> None:
        """Find the item that a region can't take, so that it does not hold up the others."""
        if isinstance(error, TryAgain):
            self._outbox.unsent()
        elif len(items) > 1:
            self._alone = True
            self._outbox.unsent()
        elif isinstance(error, BadRequest):
            self._log.error("a region refuses {item}: {error}", item=items, error=str(error))
            self._outbox.sent()
        else:
            self._outbox.later()

    async def _discovered(self, link: Link, page: _Page) -> None:
        call = link.callRemote(
            Discovered, ticket=page.ticket, slots=page.slots, more=page.more, fault=page.fault
        )
        try:
            await call.addTimeout(LIMIT, self._clock)
        except SwitchgearError as error:
            if not isinstance(error, TryAgain):
                self._found.drop(page, whole=True)
            raise
        self._found.drop(page)

    def _after(self, link: Link, error: Exception) -> float:
        """Decide how long to wait after a failure, and log it once, not once for each try."""
        self._links.prefer_others(link)
        kind = type(error).__name__
        if kind != self._complained:
            self._complained = kind
            self._log.warn(
                "a region did not take a report, it is sent again: {kind}: {error}",
                kind=kind,
                error=str(error),
            )
        # A lost link takes itself out; an answer that is an error comes from a region still there.
        return AGAIN


def _pages(ticket: str, found: Mapping[str, Power] | Fault) -> list[_Page]:
    if isinstance(found, Fault):
        return [_Page(ticket=ticket, slots=[], more=False, fault=found)]
    slots = [FoundSlot(slot=slot, power=power) for slot, power in found.items()]
    parts = list(pages(slots)) or [[]]
    return [
        _Page(ticket=ticket, slots=part, more=number < len(parts))
        for number, part in enumerate(parts, 1)
    ]
