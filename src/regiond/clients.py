"""Clients of the region over AMP: every call is answered from the record, with one short transaction."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import Factory, connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure

from drivers import registry
from regiond.following import Following
from regiond.hub import Hub
from regiond.record import asking, chassis, discovery, leasing, nodes, requests
from regiond.record.sealing import Keys
from regiond.store.cursor import Cursor
from regiond.store.database import Database
from switchgear.errors import BadRequest, TryAgain, VersionMismatch
from switchgear.secret import Secret
from switchgear.wire.arguments import pages
from switchgear.wire.client import (
    CLIENT_VERSION,
    AddChassis,
    AddNode,
    Ask,
    AskFor,
    HelloClient,
    ListChassis,
    ListDrivers,
    ListItems,
    ListNodes,
    NodeView,
    SetChassis,
    ShowDiscovery,
    ShowOperation,
    ShowRequest,
    StartDiscovery,
    Subscribe,
)
from switchgear.wire.peer import Peer

T = TypeVar("T")

#: Values read for one page, links at most, and calls in work for one link.
PAGE = 200
LINKS = 1000
CALLS = 100


@frozen(kw_only=True)
class ClientDesk:
    """What every link of a client works with."""

    clock: IReactorTime
    database: Database
    keys: Keys
    hub: Hub
    region: str
    links: "set[ClientPeer]" = field(factory=set)


class ClientPeer(Peer):
    """The region's side of a link to one client. Nothing is answered before its hello."""

    _log = Logger()

    def __init__(self, desk: ClientDesk) -> None:
        super().__init__()
        self._desk = desk
        self._name = ""
        self._calls = 0
        self._following: Following | None = None

    @HelloClient.responder
    async def _hello(self, version: int, name: str) -> dict[str, Any]:
        if version != CLIENT_VERSION:
            raise VersionMismatch(f"this region speaks version {CLIENT_VERSION}, you {version}")
        nodes.check_name("client", name)
        desk = self._desk
        if len(desk.links) >= LINKS:
            raise TryAgain(f"the region has {LINKS} clients already")
        generation = await desk.database.run(leasing.generation)
        self._name = name
        desk.links.add(self)
        self.start_pings(desk.clock)
        return {"version": CLIENT_VERSION, "region": desk.region, "generation": generation}

    async def _run(self, f: Callable[..., T], *arguments: Any) -> T:
        """Run a function on the record, for a client that said hello and does not ask too much at once."""
        if not self._name:
            raise BadRequest("say hello first")
        if self._calls >= CALLS:
            raise TryAgain(f"{CALLS} calls of this link are in work already")
        self._calls += 1
        try:
            return await self._desk.database.run(f, *arguments)
        finally:
            self._calls -= 1

    @ListNodes.responder
    async def _list_nodes(self, nodes: str, after: str) -> dict[str, Any]:
        return _page("nodes", await self._run(_nodes, nodes, after))

    @AddNode.responder
    async def _add_node(
        self, name: str, chassis: str, slot: str, addresses: list[str]
    ) -> dict[str, Any]:
        await self._run(nodes.add_node, name, chassis, slot, addresses)
        return {}

    @ListDrivers.responder
    async def _list_drivers(self) -> dict[str, Any]:
        return {"drivers": registry.views()}

    @ListChassis.responder
    async def _list_chassis(self, name: str, after: str) -> dict[str, Any]:
        return _page("chassis", await self._run(chassis.list_chassis, name, after, PAGE))

    @AddChassis.responder
    async def _add_chassis(
        self, name: str, driver: str, settings: dict[str, str], secrets: dict[str, Secret]
    ) -> dict[str, Any]:
        await self._run(chassis.add_chassis, self._desk.keys, name, driver, settings, secrets)
        return {}

    @SetChassis.responder
    async def _set_chassis(
        self, name: str, settings: dict[str, str], secrets: dict[str, Secret]
    ) -> dict[str, Any]:
        await self._run(chassis.set_chassis, self._desk.keys, name, settings, secrets)
        return {}

    @StartDiscovery.responder
    async def _start_discovery(self, chassis: str) -> dict[str, Any]:
        return {"ticket": await self._run(discovery.start, chassis)}

    @ShowDiscovery.responder
    async def _show_discovery(self, ticket: str) -> dict[str, Any]:
        return {"discovery": await self._run(discovery.show, ticket)}

    @AskFor.responder
    async def _ask_for(self, ask: Ask) -> dict[str, Any]:
        return {"answer": await self._run(asking.ask, self._name, ask)}

    @ShowRequest.responder
    async def _show_request(self, request: str) -> dict[str, Any]:
        return {"view": await self._run(requests.show_request, request)}

    @ListItems.responder
    async def _list_items(self, request: str, after: str) -> dict[str, Any]:
        return _page("items", await self._run(requests.list_items, request, after, PAGE))

    @ShowOperation.responder
    async def _show_operation(self, operation: str) -> dict[str, Any]:
        return {"view": await self._run(requests.show_operation, operation)}

    @Subscribe.responder
    async def _subscribe(self, cursor: str) -> dict[str, Any]:
        begin = await self._run(Following.first, cursor)
        if self._following is not None:
            self._following.stop()
        desk = self._desk
        self._following = Following(desk.clock, desk.database, desk.hub, self, begin)
        self._following.start()
        return {"cursor": begin}

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Forget the link, and stop its stream of events."""
        super().connectionLost(reason)
        self._desk.links.discard(self)
        if self._following is not None:
            self._following.stop()


class ClientFactory(Factory):
    """Makes a `ClientPeer` for each connection."""

    noisy = False

    def __init__(self, desk: ClientDesk) -> None:
        self._desk = desk

    def buildProtocol(self, _addr: object) -> ClientPeer:
        """Build the region's side of a link."""
        return ClientPeer(self._desk)


def _nodes(cur: Cursor, expression: str, after: str) -> Sequence[NodeView]:
    named = nodes.names(cur, expression) if expression.strip() else None
    return nodes.list_nodes(cur, named, after, PAGE)


def _page(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return as many values as fit into one message, and whether there may be more."""
    page: list[Any] = next(pages(values), [])
    return {name: page, "more": len(values) >= PAGE or len(page) < len(values)}
