"""A region that a test controls: real AMP on loopback, a record in memory, no database."""

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.protocol import Factory, connectionDone

from switchgear.wire.peer import Peer
from switchgear.wire.rack import (
    CancelOrders,
    Discover,
    Discovered,
    Dispatch,
    HelloRack,
    RenewLeases,
    Report,
)


class RackSide(Peer):
    """The region's side of a rack's link."""

    def __init__(self, region):
        super().__init__()
        self.region = region
        self.hello = None

    @HelloRack.responder
    def _hello(self, **hello):
        self.region.fail_if_told()
        self.hello = hello
        self.region.links.append(self)
        self.region.changed()
        return {"version": 1, "region": "fake", "generation": self.region.generation}

    @RenewLeases.responder
    def _renew(self, after):
        self.region.renewals.append(after)
        self.region.fail_if_told()
        names = sorted(name for name in self.region.grants if name > after)
        page = names[: self.region.page]
        # Who waits for this goes on when the answer was sent.
        reactor.callLater(0, self.region.changed)
        return {
            "grants": [self.region.grants[name] for name in page],
            "more": len(names) > len(page),
        }

    @Report.responder
    def _report(self, items):
        self.region.fail_if_told()
        self.region.items += items
        self.region.changed()
        return {}

    @Discovered.responder
    def _discovered(self, **found):
        self.region.discovered.append(found)
        self.region.changed()
        return {}

    def connectionLost(self, reason=connectionDone):
        """Forget the link."""
        super().connectionLost(reason)
        if self in self.region.links:
            self.region.links.remove(self)
        self.region.changed()


class FakeRegion:
    """`grants` by chassis are given to whoever asks; `refuse`: what every call fails with."""

    def __init__(self, *grants, page=100):
        self.grants = {grant.chassis: grant for grant in grants}
        self.page = page
        self.generation = 1
        self.refuse = None
        self.links, self.items, self.discovered, self.renewals = [], [], [], []
        self.port = 0
        self._waiting = []
        self._listening = None

    async def listen(self, reactor):
        """Listen on loopback, on the port of before if there was one."""
        factory = Factory.forProtocol(lambda: RackSide(self))
        factory.noisy = False
        endpoint = TCP4ServerEndpoint(reactor, self.port, interface="127.0.0.1")
        self._listening = await endpoint.listen(factory)
        self.port = self._listening.getHost().port

    async def stop(self):
        """Stop listening, and drop every link."""
        if self._listening is not None:
            await self._listening.stopListening()
        for link in list(self.links):
            link.close()
        await self.until(lambda: not self.links)

    def fail_if_told(self):
        """Fail the call that is being answered."""
        if self.refuse is not None:
            raise self.refuse

    @property
    def results(self):
        """The results that were reported, by operation; an operation reported twice stands twice."""
        return [item.result for item in self.items if item.result]

    def dispatch(self, chassis, *orders):
        """Send orders under the epoch that was granted."""
        return self.links[0].callRemote(
            Dispatch, chassis=chassis, epoch=self.grants[chassis].epoch, orders=list(orders)
        )

    def cancel(self, chassis, *operations):
        """Cancel operations."""
        return self.links[0].callRemote(CancelOrders, chassis=chassis, operations=list(operations))

    def discover(self, chassis, ticket):
        """Ask for a read."""
        return self.links[0].callRemote(
            Discover, chassis=chassis, epoch=self.grants[chassis].epoch, ticket=ticket
        )

    def until(self, condition):
        """Fire when the condition holds, which is looked at whenever a rack says something."""
        waiting = Deferred()
        self._waiting.append((condition, waiting))
        self.changed()
        return waiting

    def changed(self):
        """Look at what is waited for."""
        ready = [entry for entry in self._waiting if entry[0]()]
        self._waiting = [entry for entry in self._waiting if entry not in ready]
        for _, waiting in ready:
            waiting.callback(None)
