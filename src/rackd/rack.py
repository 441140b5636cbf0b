"""The rack: the chassis that it holds leases of, and what the regions may ask of it."""

import random
from collections.abc import Callable, Sequence

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall, deferLater
from twisted.logger import Logger

from rackd.calls import Pool
from rackd.chassis import Chassis, Surroundings
from rackd.journal import Journal
from rackd.leases import LOOK_EVERY, Leases
from rackd.reporter import Reporter
from rackd.terms import terms
from switchgear.errors import StaleEpoch, TryAgain
from switchgear.wire.rack import Grant, Order

#: Seconds after which a chassis whose lease ran out is forgotten, with what is known of its slots.
FORGET_AFTER = 3600.0
#: Seconds between two looks at whether a draining rack is at rest.
DRAIN_LOOK = 0.05


class Rack:
    """Everything of a rack daemon but its links. In the reactor's thread only."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        pool: Pool,
        journal: Journal,
        reporter: Reporter,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._leases = Leases()
        self._chassis: dict[str, Chassis] = {}
        self._lapsed: dict[str, float] = {}
        self._stopping = False
        self._around = Surroundings(
            clock=clock,
            pool=pool,
            journal=journal,
            tell=reporter.tell,
            found=reporter.found,
            chance=chance,
        )
        self._looking = LoopingCall(self.look)
        self._looking.clock = clock

    def start(self) -> None:
        """Begin to look after leases that run out."""
        self._looking.start(LOOK_EVERY, now=False)

    # -- leases

    def enter(self, generation: int) -> bool:
        """Note which generation of the installation a region speaks for; False if it is behind."""
        if generation > self._leases.generation:
            for chassis in self._chassis.values():
                chassis.revoked()
        return self._leases.enter(generation)

    def renew_in(self) -> float:
        """Return the seconds until leases should be asked for again."""
        return self._leases.renew_in()

    def granted(self, asked_at: float, grants: Sequence[Grant]) -> None:
        """Note leases that were asked for at `asked_at`. One bad grant does not spoil the others."""
        for grant in grants:
            try:
                self._granted(asked_at, grant)
            except Exception:  # noqa: BLE001 - a defect in one chassis ends there
                self._log.failure("the lease of {chassis} can't be used", chassis=grant.chassis)

    def _granted(self, asked_at: float, grant: Grant) -> None:
        lease = self._leases.granted(
            asked_at=asked_at, chassis=grant.chassis, epoch=grant.epoch, seconds=grant.seconds
        )
        if lease is None or self._stopping:
            return
        self._lapsed.pop(grant.chassis, None)
        how = terms(grant)
        chassis = self._chassis.get(grant.chassis)
        if chassis is None:
            chassis = self._chassis[grant.chassis] = Chassis(grant.chassis, how, self._around)
            self._log.info("{chassis}: lease {epoch}", chassis=grant.chassis, epoch=grant.epoch)
        chassis.granted(lease, how)

    def look(self) -> None:
        """Close the sessions of chassis whose lease ran out, and forget those long gone."""
        now = self._clock.seconds()
        for name in self._leases.lapsed(now):
            self._log.warn("{chassis}: the lease ran out", chassis=name)
            if name in self._chassis:
                self._lapsed[name] = now
                self._chassis[name].end_session()
        for name, since in list(self._lapsed.items()):
            if now - since > FORGET_AFTER and self._chassis[name].silent:
                self._chassis.pop(name).forget()
                del self._lapsed[name]

    # -- what regions ask

    def dispatch(self, chassis: str, epoch: int, orders: Sequence[Order]) -> int:
        """Take orders; return the number of the last read before them. Raises StaleEpoch, TryAgain."""
        return self._held(chassis, epoch).dispatch(orders)

    def is_behind(self, chassis: str, credentials: int) -> bool:
        """Tell whether the settings of a chassis have changed since this rack got them."""
        known = self._chassis.get(chassis)
        return known is not None and known.credentials < credentials

    def discover(self, chassis: str, epoch: int, ticket: str) -> None:
        """Read a chassis for a discovery. Raises StaleEpoch, TryAgain."""
        self._held(chassis, epoch).discover(ticket)

    def cancel(self, chassis: str, operations: Sequence[str]) -> None:
        """Cancel operations. Raises StaleEpoch if this rack never had orders of the chassis."""
        known = self._chassis.get(chassis)
        if known is None:
            raise StaleEpoch(f"this rack holds no lease of {chassis}")
        known.cancel(operations)

    def _held(self, chassis: str, epoch: int) -> Chassis:
        if self._stopping:
            raise TryAgain("this rack is stopping")
        if not self._leases.holds(self._clock.seconds(), chassis, epoch):
            raise StaleEpoch(f"this rack does not hold lease {epoch} of {chassis}")
        return self._chassis[chassis]

    # -- stopping

    async def drain(self, limit: float) -> None:
        """Take no more orders; wait, `limit` seconds at most, for what was commanded; close sessions."""
        self._stopping = True
        if self._looking.running:
            self._looking.stop()
        for chassis in self._chassis.values():
            chassis.drain()
        # Most of the time is for the machines, the rest to abort and close what is left.
        await self._until(lambda chassis: chassis.settled, limit * 0.75)
        for chassis in self._chassis.values():
            chassis.give_up()
        await self._until(lambda chassis: chassis.silent, limit * 0.25)
        for chassis in self._chassis.values():
            chassis.forget()

    async def _until(self, at_rest: Callable[[Chassis], bool], limit: float) -> None:
        end = self._clock.seconds() + limit
        while self._clock.seconds() < end and not all(map(at_rest, self._chassis.values())):
            await deferLater(self._clock, DRAIN_LOOK)
