"""The link of a client to the region: made when it is needed, made again when it was lost.

none --call--> connecting --hello--> linked --lost--> none
"""

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred, DeferredLock
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.error import ConnectError, ConnectionDone, ConnectionLost
from twisted.internet.protocol import Factory, connectionDone
from twisted.internet.task import deferLater
from twisted.protocols import amp
from twisted.python.failure import Failure

from switchgear.errors import SwitchgearError, TryAgain
from switchgear.wire.client import CLIENT_VERSION, EventView, Happened, HelloClient
from switchgear.wire.peer import Peer

#: Seconds for a connection, and between two tries.
CONNECT_LIMIT = 5.0
AGAIN = 0.3

_LOST = (ConnectionDone, ConnectionLost, ConnectError, OSError)


class NotReachable(SwitchgearError):
    """The region can't be reached. Is it running, and is the address right?"""

    code = "NOT_REACHABLE"


class ClientLink(Peer):
    """The client's side of a link."""

    def __init__(
        self, happened: Callable[[list[EventView]], None], lost: Callable[[], None]
    ) -> None:
        super().__init__()
        self._happened = happened
        self._lost = lost

    @Happened.responder
    def _events(self, events: list[EventView]) -> dict[str, Any]:
        self._happened(events)
        return {}

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Tell of the loss."""
        super().connectionLost(reason)
        self._lost()


class Links:
    """Makes calls on one link, which is renewed when it was lost. `relinked` is called after each hello."""

    def __init__(
        self,
        reactor: Any,
        address: str,
        name: str,
        patience: float,
        happened: Callable[[list[EventView]], None],
    ) -> None:
        self._reactor = reactor
        self._address = address
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise NotReachable(
                f"{address!r} is no address of a region; one looks like 127.0.0.1:5241"
            )
        self._endpoint = HostnameEndpoint(reactor, host, int(port), timeout=CONNECT_LIMIT)
        self._name = name
        self._patience = patience
        self._happened = happened
        self._link: ClientLink | None = None
        self._lock = DeferredLock()
        self._closed = False
        self.region = ""
        self.generation = 0
        self.on_lost: Callable[[], None] = lambda: None

    async def call(self, command: type[amp.Command], **arguments: Any) -> dict[str, Any]:
        """Make a call; made again if its link was lost, or the region said so, for up to `patience` s."""
        give_up_at = self._reactor.seconds() + self._patience
        while True:
            try:
                link = await self._linked()
                answer: dict[str, Any] = await link.callRemote(command, **arguments)
                return answer
            except _LOST as error:
                problem: SwitchgearError = NotReachable(f"{self._address}: {_why(error)}")
            except TryAgain as error:
                problem = error
            if self._closed or self._reactor.seconds() >= give_up_at:
                raise problem
            await deferLater(self._reactor, AGAIN, lambda: None)

    async def close(self) -> None:
        """End the link; no other is made."""
        self._closed = True
        if self._link is not None:
            self._link.close()

    async def _linked(self) -> ClientLink:
        """Return the link; connect and say hello if there is none. Several callers share one try."""
        await self._lock.acquire()
        try:
            if self._link is None:
                self._link = await self._connect()
            return self._link
        finally:
            self._lock.release()

    async def _connect(self) -> ClientLink:
        factory = Factory.forProtocol(lambda: ClientLink(self._happened, self._was_lost))
        factory.noisy = False
        connecting: Deferred[Any] = self._endpoint.connect(factory)
        link: ClientLink = await connecting
        try:
            hello = await link.callRemote(HelloClient, version=CLIENT_VERSION, name=self._name)
        except BaseException:
            link.close()
            raise
        self.region, self.generation = hello["region"], hello["generation"]
        link.start_pings(self._reactor)
        return link

    def _was_lost(self) -> None:
        self._link = None
        if not self._closed:
            self.on_lost()


def _why(error: BaseException) -> str:
    return str(error).rstrip(".") or type(error).__name__
