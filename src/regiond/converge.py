"""Converge: what is wanted goes to the racks that hold the leases, until the record says it is so.

Each look claims operations for a few seconds, sends them, and notes them as sent; nothing is held open
meanwhile. Whatever is lost on the way (a message, a rack, this region) is found by a later look.
"""

from collections.abc import Coroutine
from typing import Any

from attrs import evolve, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from regiond.looking import Looker
from regiond.racks import Racks
from regiond.record import discovery, dispatching, feed, releasing, requests
from regiond.record.discovery import Errand
from regiond.record.dispatching import Parcel
from regiond.store.database import Database
from switchgear.wire.arguments import pages
from switchgear.wire.rack import Discover, Dispatch

#: Operations claimed in one look at most, and seconds between two prunings of old rows.
CLAIM = 2000
PRUNE_EVERY = 3600.0


@frozen(kw_only=True)
class Converge:
    """The three loops of a region: send, tidy up, prune. `run`: who claims, the same over restarts."""

    database: Database
    racks: Racks
    run: str
    sender: Looker
    tidier: Looker
    pruner: Looker
    _log = Logger(namespace="regiond.converge")

    @classmethod
    def build(cls, clock: IReactorTime, database: Database, racks: Racks, run: str) -> "Converge":
        """Wire the loops."""
        looks = _Looks(database, racks, run)
        return cls(
            database=database,
            racks=racks,
            run=run,
            sender=Looker(clock, "sending to the racks", looks.send),
            tidier=Looker(clock, "tidying up", looks.tidy_up),
            pruner=Looker(clock, "pruning", looks.prune, every=PRUNE_EVERY),
        )

    async def start(self) -> None:
        """Give up the claims of an earlier life of this region, and begin."""
        await self.database.run(dispatching.clear_claims, self.run)
        for looker in (self.sender, self.tidier, self.pruner):
            looker.start()

    def hint(self) -> None:
        """Something may be to send."""
        self.sender.hint()

    async def stop(self) -> None:
        """End the loops."""
        for looker in (self.sender, self.tidier, self.pruner):
            await looker.stop()


class _Looks:
    """What each loop does in one look."""

    _log = Logger(namespace="regiond.converge")

    def __init__(self, database: Database, racks: Racks, run: str) -> None:
        self._database = database
        self._racks = racks
        self._run = run

    async def send(self) -> None:
        """Send what waits to the racks that are linked. One slow rack keeps no other one waiting."""
        linked = self._racks.linked()
        if not linked:
            return
        parcels = await self._database.run(dispatching.claim, self._run, linked, CLAIM)
        for parcel in parcels:
            self._start(self._send_parcel(parcel))
        for errand in await self._database.run(discovery.waiting, linked):
            self._start(self._send_errand(errand))

    async def tidy_up(self) -> None:
        """Finish what a crash left, and end what nobody can do."""
        ripe = await self._database.run(releasing.unfinished)
        if ripe:
            await self._database.run(releasing.finish, ripe)
        await self._database.run(dispatching.expire)
        await self._database.run(discovery.expire)

    async def prune(self) -> None:
        """Delete old events and requests."""
        await self._database.run(feed.prune)
        await self._database.run(requests.prune)

    def _start(self, sending: Coroutine[Deferred[Any], Any, None]) -> None:
        """Begin to send something; its end is not waited for, but looked after."""
        Deferred.fromCoroutine(sending).addErrback(
            lambda failure: self._log.failure("sending failed", failure=failure)
        )

    async def _send_parcel(self, parcel: Parcel) -> None:
        for orders in pages(parcel.orders):
            part = evolve(parcel, orders=orders)
            try:
                answer = await self._racks.send(
                    parcel.rack,
                    Dispatch,
                    chassis=parcel.chassis,
                    epoch=parcel.epoch,
                    orders=orders,
                    credentials=parcel.credentials,
                )
            except Exception as error:  # noqa: BLE001 # not delivered, whatever it was: it comes again
                self._log.info(
                    "{count} orders did not reach {rack}: {error}",
                    count=len(orders),
                    rack=parcel.rack,
                    error=f"{type(error).__name__}: {error}",
                )
                await self._database.run(dispatching.unsent, part)
            else:
                await self._database.run(dispatching.sent, part, answer["read_mark"])

    async def _send_errand(self, errand: Errand) -> None:
        try:
            await self._racks.send(
                errand.rack,
                Discover,
                chassis=errand.chassis,
                epoch=errand.epoch,
                ticket=errand.ticket,
            )
        except Exception:  # noqa: BLE001 # the same
            await self._database.run(discovery.unsent, errand.ticket)
