"""A client's stream of events: one page in flight, the next when it was acknowledged, none left out."""

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from regiond.hub import Hub
from regiond.looking import Looker
from regiond.record import feed
from regiond.store.cursor import Cursor
from regiond.store.database import Database
from switchgear.wire.arguments import pages
from switchgear.wire.client import Happened
from switchgear.wire.peer import Peer

#: Events read at once.
EVENTS = 200


class Following:
    """Sends what happens after `cursor` on a link, until `stop`. A slow client is only slow for itself."""

    _log = Logger()

    def __init__(
        self, clock: IReactorTime, database: Database, hub: Hub, link: Peer, cursor: str
    ) -> None:
        self._database = database
        self._link = link
        self._cursor = cursor
        self._looker = Looker(clock, "following events", self._look)
        self._unsubscribe = hub.subscribe(self._looker.hint)
        self._stopped = False

    @staticmethod
    def first(cur: Cursor, cursor: str) -> str:
        """Return where to begin: now for an empty cursor. Raises BadRequest for what is none."""
        if not cursor:
            return feed.start_cursor(cur)
        feed.events_after(cur, cursor, 1)
        return cursor

    def start(self) -> None:
        """Begin."""
        self._looker.start()

    def stop(self) -> None:
        """End after the page in flight."""
        self._stopped = True
        self._unsubscribe()
        Deferred.fromCoroutine(self._looker.stop()).addErrback(
            lambda failure: self._log.failure("a stream of events ended badly", failure=failure)
        )

    async def _look(self) -> None:
        """Send all that is new. A link that ends in between fails the call, and `stop` follows."""
        more = True
        while more and not self._stopped:
            events, cursor = await self._database.run(feed.events_after, self._cursor, EVENTS)
            for page in pages(events):
                await self._link.callRemote(Happened, events=page)
                self._cursor = page[-1].cursor
            self._cursor = cursor
            more = len(events) >= EVENTS
