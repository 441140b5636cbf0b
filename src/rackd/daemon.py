"""The rack daemon as one thing: builds its parts, starts them, and stops them in order."""

from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.endpoints import HostnameEndpoint
from twisted.logger import Logger

from rackd.alone import State
from rackd.config import Config
from rackd.journal import Journal
from rackd.keeping import Keeper
from rackd.link import Bench, Identity
from rackd.links import Links
from rackd.rack import Rack
from rackd.reporter import Reporter
from threadpool import AdaptivePool, PoolSettings

#: Seconds that a stop may take for what was commanded, the last reports, and the threads.
DRAIN_LIMIT, REPORT_LIMIT, POOL_LIMIT = 10.0, 3.0, 1.0

_log = Logger()


@frozen(kw_only=True)
class Daemon:
    """A rack daemon. Made by `build`."""

    state: State
    pool: AdaptivePool
    journal: Journal
    reporter: Reporter
    rack: Rack
    keepers: Sequence[Keeper]

    def start(self) -> None:
        """Start everything; the regions are reached when the reactor runs."""
        self.pool.start()
        self.pool.install()
        self.rack.start()
        for keeper in self.keepers:
            keeper.start()

    async def stop(self) -> None:
        """Confirm what was commanded, tell it, and end everything; some 14 s at most."""
        _log.info("stopping: no new commands")
        await self.rack.drain(DRAIN_LIMIT)
        if not await self.reporter.flush(REPORT_LIMIT):
            _log.warn("the last reports reached no region; it will look again")
        self.reporter.stop()
        await gatherResults([Deferred.fromCoroutine(keeper.stop()) for keeper in self.keepers])
        await self.pool.stop(POOL_LIMIT)
        self.journal.close()
        self.state.leave()
        _log.info("stopped")


def build(reactor: Any, config: Config, state: State, boot: str) -> Daemon:
    """Build a daemon on a state folder that is held. Raises OSError if the journal can't be read."""
    journal = Journal(state.journal, boot)
    journal.open(reactor.seconds())
    size = config.pool
    pool = AdaptivePool(
        PoolSettings(base=size.base, ceiling=size.ceiling, quotas={"io": size.ceiling}), reactor
    )
    links = Links()
    reporter = Reporter(reactor, links)
    rack = Rack(clock=reactor, pool=pool, journal=journal, reporter=reporter)
    bench = Bench(
        clock=reactor,
        rack=rack,
        links=links,
        identity=Identity(name=config.name, incarnation=token_hex(8), heir=True),
        ready=_once(state),
    )
    keepers = [
        Keeper(
            HostnameEndpoint(reactor, region.host, region.port, timeout=10),
            f"{region.host}:{region.port}",
            bench,
        )
        for region in config.regions
    ]
    return Daemon(
        state=state, pool=pool, journal=journal, reporter=reporter, rack=rack, keepers=keepers
    )


def _once(state: State) -> Any:
    """Return a function that shows that the rack is ready, the first time that it is called."""
    shown: list[bool] = []

    def ready() -> None:
        if not shown:
            shown.append(True)
            state.show_ready()
            _log.info("ready")

    return ready
