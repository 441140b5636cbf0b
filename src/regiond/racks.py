"""The racks that are linked to this region: their hello, leases and reports, and what is sent to them."""

from collections.abc import Callable
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import Factory, connectionDone
from twisted.logger import Logger
from twisted.protocols import amp
from twisted.python.failure import Failure

from regiond.record import discovery, leasing, releasing, reporting
from regiond.record.sealing import Keys
from regiond.store.database import Database
from switchgear.errors import BadRequest, TryAgain, VersionMismatch
from switchgear.power import Fault
from switchgear.wire.arguments import pages
from switchgear.wire.peer import Peer
from switchgear.wire.rack import (
    RACK_VERSION,
    Discovered,
    FoundSlot,
    HelloRack,
    RenewLeases,
    Report,
    Seen,
)
from threadpool import AdaptivePool

#: Grants in one answer at most, and seconds that a rack has to acknowledge a message.
GRANTS = 40
ANSWER_LIMIT = 10.0


@frozen(kw_only=True)
class RackDesk:
    """What every link of a rack works with. `changed`: racks came or went, or leases may have moved."""

    clock: IReactorTime
    pool: AdaptivePool
    database: Database
    keys: Keys
    region: str
    racks: "Racks"
    changed: Callable[[], None]


class Racks:
    """The links of racks, by name; a newer link of a rack replaces an older one."""

    def __init__(self) -> None:
        self._links: dict[str, RackPeer] = {}

    def linked(self) -> list[tuple[str, str]]:
        """List the racks that can be sent to, as (name, incarnation)."""
        return [(name, link.incarnation) for name, link in self._links.items()]

    def add(self, link: "RackPeer") -> None:
        """Take a link that said hello."""
        older = self._links.get(link.name)
        self._links[link.name] = link
        if older is not None:
            older.close()

    def remove(self, link: "RackPeer") -> None:
        """Forget a link that ended."""
        if self._links.get(link.name) is link:
            del self._links[link.name]

    def send(
        self, rack: str, command: type[amp.Command], **arguments: Any
    ) -> "Deferred[dict[str, Any]]":
        """Send a message; fires with the acknowledgement. Fails with TryAgain if the rack has no link."""
        link = self._links.get(rack)
        if link is None:
            raise TryAgain(f"rack {rack} has no link to this region")
        sent: Deferred[dict[str, Any]] = link.callRemote(command, **arguments)
        return sent.addTimeout(ANSWER_LIMIT, link.clock)

    def close(self) -> None:
        """End every link."""
        for link in list(self._links.values()):
            link.close()


class RackPeer(Peer):
    """The region's side of a link to one rack. Nothing is answered before its hello."""

    _log = Logger()

    def __init__(self, desk: RackDesk) -> None:
        super().__init__()
        self._desk = desk
        self.clock = desk.clock
        self.name = ""
        self.incarnation = ""

    @HelloRack.responder
    async def _hello(self, version: int, name: str, incarnation: str, heir: bool) -> dict[str, Any]:
        if version != RACK_VERSION:
            raise VersionMismatch(f"this region speaks version {RACK_VERSION}, the rack {version}")
        desk = self._desk
        generation = await desk.database.run(leasing.hello, name, incarnation, heir)
        self.name, self.incarnation = name, incarnation
        desk.racks.add(self)
        self.start_pings(desk.clock)
        self._log.info("rack {name} is linked", name=name)
        return {"version": RACK_VERSION, "region": desk.region, "generation": generation}

    @RenewLeases.responder
    async def _renew(self, after: str) -> dict[str, Any]:
        self._check()
        desk = self._desk
        grants, more = await desk.database.run(
            leasing.renew, desk.keys, self.name, self.incarnation, after, GRANTS
        )
        page = next(pages(grants), [])
        desk.changed()
        return {"grants": page, "more": more or len(page) < len(grants)}

    @Report.responder
    async def _report(self, items: list[Seen]) -> dict[str, Any]:
        self._check()
        await self._desk.pool.defer("db", self._enter, items)
        return {}

    def _enter(self, items: list[Seen]) -> None:
        """Write a report down; then finish releases by a task of their own, and wait for it.

        Runs in a `db` task. The wait is outside of any transaction, so this task's connection is free
        for the other one: the pool of the story, where ten such threads stopped everything.
        """
        desk = self._desk
        ripe = desk.database.run_here(reporting.report, self.name, self.incarnation, items)
        if ripe:
            finishing = desk.pool.submit("db", desk.database.run_here, releasing.finish, ripe)
            desk.pool.block_on(finishing)

    @Discovered.responder
    async def _discovered(
        self, ticket: str, slots: list[FoundSlot], more: bool, fault: Fault | None
    ) -> dict[str, Any]:
        self._check()
        await self._desk.database.run(discovery.found, ticket, slots, more, fault)
        return {}

    def _check(self) -> None:
        if not self.name:
            raise BadRequest("say hello first")

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Forget the link."""
        super().connectionLost(reason)
        if self.name:
            self._log.info("rack {name} is gone", name=self.name)
            self._desk.racks.remove(self)
            self._desk.changed()


class RackFactory(Factory):
    """Makes a `RackPeer` for each connection."""

    noisy = False

    def __init__(self, desk: RackDesk) -> None:
        self._desk = desk

    def buildProtocol(self, _addr: object) -> RackPeer:
        """Build the region's side of a link."""
        return RackPeer(self._desk)
