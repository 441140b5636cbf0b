"""The region daemon as one thing: builds its parts, starts them, and stops them in order."""

import socket
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import gatherResults, maybeDeferred
from twisted.internet.interfaces import IListeningPort
from twisted.logger import Logger

from regiond.clients import ClientDesk, ClientFactory
from regiond.config import Config
from regiond.converge import Converge
from regiond.hub import Hub
from regiond.racks import RackDesk, RackFactory, Racks
from regiond.record.sealing import Keys
from regiond.store.database import Database
from regiond.store.listen import Listener
from regiond.web.site import web_site
from threadpool import AdaptivePool

#: Seconds that a stop may take for the transactions in work.
STOP_LIMIT = 10.0

_log = Logger(namespace="regiond")


class PortTaken(Exception):
    """A port can't be listened on. The text says which, and what to do."""


@frozen(kw_only=True)
class Region:
    """A region daemon. Made by `build`."""

    config: Config
    reactor: Any
    pool: AdaptivePool
    database: Database
    listener: Listener
    hub: Hub
    racks: Racks
    converge: Converge
    rack_desk: RackDesk
    client_desk: ClientDesk
    _ports: list[IListeningPort] = field(factory=list)

    def listen(self) -> None:
        """Listen on the three ports. Raises PortTaken, with none of them open."""
        config = self.config
        sites = (
            (config.racks, "--rack-port", RackFactory(self.rack_desk)),
            (config.clients, "--client-port", ClientFactory(self.client_desk)),
            (config.web, "--web-port", web_site(self.database, self.hub, self.reactor)),
        )
        for address, option, factory in sites:
            try:
                port = self.reactor.listenTCP(address.port, factory, interface=address.host)
            except OSError as error:
                self._close_ports()
                raise PortTaken(_taken(address, option, error)) from None
            self._ports.append(port)

    async def start(self) -> None:
        """Begin to work; the ports are open already."""
        self.hub.subscribe(self.converge.hint)
        self.listener.start()
        await self.converge.start()
        _log.info("ready")

    async def stop(self) -> None:
        """Take no more, finish the transactions in work, and end everything."""
        _log.info("stopping")
        await gatherResults([maybeDeferred(port.stopListening) for port in self._ports])
        await self.converge.stop()
        self.racks.close()
        for link in list(self.client_desk.links):
            link.close()
        await self.listener.stop()
        await self.pool.stop(STOP_LIMIT)
        self.database.stop()
        _log.info("stopped")

    def _close_ports(self) -> None:
        for port in self._ports:
            port.stopListening()
        self._ports.clear()


def build(
    reactor: Any, config: Config, pool: AdaptivePool, database: Database, keys: Keys
) -> Region:
    """Wire a region. The pool runs, the database is migrated."""
    hub, racks = Hub(), Racks()
    name = f"{config.name}@{socket.gethostname()}"
    run = f"{name}:{config.racks.port}"
    converge = Converge.build(reactor, database, racks, run)
    rack_desk = RackDesk(
        clock=reactor,
        pool=pool,
        database=database,
        keys=keys,
        region=name,
        racks=racks,
        changed=converge.hint,
    )
    return Region(
        config=config,
        reactor=reactor,
        pool=pool,
        database=database,
        listener=Listener(reactor, config.dsn, hub.hint),
        hub=hub,
        racks=racks,
        converge=converge,
        rack_desk=rack_desk,
        client_desk=ClientDesk(clock=reactor, database=database, keys=keys, hub=hub, region=name),
    )


def _taken(address: Any, option: str, error: OSError) -> str:
    return (
        f"port {address.port} on {address.host} can't be listened on ({error}); "
        f"another program may have it: end that one, or choose another port ({option} of `switchgear up`)"
    )
