"""The link to one region: hello, leases renewed in time, and orders taken.

    connected --hello--> greeting --answered--> linked --lost--> gone
                            |                                      |
                            +--refused, or no answer in time-------+

`rackd.keeping` makes the next link when one is gone.
"""

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import connectionDone
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from rackd.links import Links
from rackd.rack import Rack
from switchgear.errors import VersionMismatch
from switchgear.wire.peer import Peer
from switchgear.wire.rack import (
    RACK_VERSION,
    CancelOrders,
    Discover,
    Dispatch,
    HelloRack,
    Order,
    RenewLeases,
)

#: Seconds that a region may take to answer a hello, or to commit a page of renewals.
ANSWER_LIMIT = 15.0
#: Seconds until a renewal that failed is tried again.
RENEW_AGAIN = 1.0


@frozen(kw_only=True)
class Identity:
    """Who this rack is. `incarnation` is new for every start; `heir`: it holds the host's lock."""

    name: str
    incarnation: str
    heir: bool


@frozen(kw_only=True)
class Bench:
    """What every link of a rack works with. `ready` is called once leases were asked for."""

    clock: IReactorTime
    rack: Rack
    links: Links
    identity: Identity
    ready: Callable[[], None] = lambda: None


class RackLink(Peer):
    """The rack's side of a link to one region."""

    _log = Logger()
    _renewing: "Deferred[None] | None" = None
    _complained = ""
    _gone = False

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self._bench = bench
        self._watchers: list[Deferred[None]] = []

    def gone(self) -> "Deferred[None]":
        """Fires when the link has ended."""
        watcher: Deferred[None] = Deferred()
        if self._gone:
            watcher.callback(None)
        else:
            self._watchers.append(watcher)
        return watcher

    async def greet(self) -> None:
        """Say hello, and begin to work for the region. Closes the link and raises if it is refused."""
        who = self._bench.identity
        try:
            answer = await self.callRemote(
                HelloRack,
                version=RACK_VERSION,
                name=who.name,
                incarnation=who.incarnation,
                heir=who.heir,
            ).addTimeout(ANSWER_LIMIT, self._bench.clock)
            self._agree(answer["version"], answer["generation"])
        except BaseException:
            self.close()
            raise
        self._log.info("linked to region {region}", region=answer["region"])
        self.start_pings(self._bench.clock)
        self._bench.links.add(self)
        self._renewing = Deferred.fromCoroutine(self._renew_always())
        self._renewing.addErrback(self._renewing_ended)

    def _agree(self, version: int, generation: int) -> None:
        if version != RACK_VERSION:
            raise VersionMismatch(f"the region speaks version {version}, this rack {RACK_VERSION}")
        if not self._bench.rack.enter(generation):
            raise VersionMismatch(
                f"the region's record is of generation {generation}, and a newer one is known"
            )

    async def _renew_always(self) -> None:
        """Renew the leases in time, for as long as the link lives."""
        while True:
            pause = await self._renew_or_complain()
            await deferLater(self._bench.clock, pause)

    async def _renew_or_complain(self) -> float:
        """Renew once; return the seconds until the next time. A failure is logged once, not each time."""
        try:
            await self._renew()
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the next try may succeed; leases end by themselves
            kind = type(error).__name__
            if kind != self._complained and self._renewing is not None:
                self._complained = kind
                self._log.warn("leases not renewed: {kind}: {error}", kind=kind, error=str(error))
            return RENEW_AGAIN
        self._complained = ""
        self._bench.ready()
        return self._bench.rack.renew_in()

    async def _renew(self) -> None:
        """Renew every lease and take free ones, page by page."""
        after, more = "", True
        while more:
            asked_at = self._bench.clock.seconds()
            answer = await self.callRemote(RenewLeases, after=after).addTimeout(
                ANSWER_LIMIT, self._bench.clock
            )
            grants = answer["grants"]
            self._bench.rack.granted(asked_at, grants)
            # A page that is empty, or does not go on, would be asked for for ever.
            more = answer["more"] and bool(grants) and grants[-1].chassis > after
            after = grants[-1].chassis if grants else after

    def _renewing_ended(self, failure: Failure) -> None:
        if not failure.check(CancelledError):
            self._log.failure("renewing leases failed", failure=failure)
            self.close()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Stop working for this region; leases go on until their ends."""
        self._bench.links.remove(self)
        renewing, self._renewing = self._renewing, None
        super().connectionLost(reason)
        if renewing is not None:
            self._log.info("link lost: {reason}", reason=reason.getErrorMessage())
            renewing.cancel()
        self._gone = True
        for watcher in self._watchers:
            watcher.callback(None)

    @Dispatch.responder
    async def _dispatch(
        self, chassis: str, epoch: int, orders: list[Order], credentials: int | None = None
    ) -> dict[str, object]:
        """Take orders. If they were made with newer settings than ours, get those first."""
        if credentials is not None and self._bench.rack.is_behind(chassis, credentials):
            await self._renew()
        return {"read_mark": self._bench.rack.dispatch(chassis, epoch, orders)}

    @CancelOrders.responder
    def _cancel(self, chassis: str, operations: list[str]) -> dict[str, object]:
        self._bench.rack.cancel(chassis, operations)
        return {}

    @Discover.responder
    def _discover(self, chassis: str, epoch: int, ticket: str) -> dict[str, object]:
        self._bench.rack.discover(chassis, epoch, ticket)
        return {}
