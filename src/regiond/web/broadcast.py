"""Tells all open pages what changed in the record: looked at once for all that stand at the same mark."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall, deferLater
from twisted.logger import Logger

from regiond.looking import Looker
from regiond.web import reading
from regiond.web.reading import Change
from regiond.web.stream import Stream
from switchgear.errors import SwitchgearError, TryAgain
from switchgear.wire.client import ChassisView

#: Streams at most; seconds between two signs of life, and at least between two looks.
STREAMS, BEAT, PAUSE = 200, 15.0, 0.2
#: Seconds after which chassis are looked at again in any case.
CHASSIS_EVERY = 2.0

_log = Logger(namespace="regiond.web")


class Broadcast:
    """The streams of all pages. `database` has `run(f, *args)`, `hub` has `subscribe(look)`."""

    def __init__(self, clock: IReactorTime, database: Any, hub: Any) -> None:
        self._clock = clock
        self._database = database
        self._hub = hub
        self._streams: set[Stream] = set()
        self._beginning = 0
        self._looker = Looker(clock, "telling the web pages", self._look)
        self._beats = LoopingCall(self._beat)
        self._beats.clock = clock
        self._unsubscribe: Callable[[], None] = lambda: None
        self._chassis: list[ChassisView] = []
        self._chassis_version = 1
        self._chassis_at: float | None = None

    def start(self) -> None:
        """Begin to look."""
        self._unsubscribe = self._hub.subscribe(self._looker.hint)
        self._looker.start()
        Deferred.addErrback(self._beats.start(BEAT, now=False), _complain)

    async def stop(self) -> None:
        """End every stream."""
        self._unsubscribe()
        if self._beats.running:
            self._beats.stop()
        for stream in list(self._streams):
            stream.close()
        await self._looker.stop()

    async def serve(self, request: Any, last: str) -> None:
        """Stream to a page that has seen the event `last`, until it leaves. TryAgain: too many, no record."""
        if len(self._streams) + self._beginning >= STREAMS:
            raise TryAgain(f"{STREAMS} pages are open already")
        self._beginning += 1
        try:
            beginning = await self._database.run(reading.begin, last)
        finally:
            self._beginning -= 1
        stream = Stream(self._clock, request, beginning.mark)
        self._streams.add(stream)
        try:
            stream.open()
            if not beginning.resumed:
                await self._catch_up(stream)
            stream.following = True
            self._looker.hint()
            await stream.ended
        except SwitchgearError:
            stream.close()  # the headers are gone already; the page comes back in a moment
        finally:
            self._streams.discard(stream)

    async def _catch_up(self, stream: Stream) -> None:
        after: str | None = ""
        while after is not None and not stream.closed:
            await stream.room()
            part = await self._database.run(reading.snapshot, stream.mark, after)
            stream.write([part.frame])
            after = part.after

    async def _look(self) -> None:
        """Send what is new to all that can take it; then rest a little, since many hints are one look."""
        if self._streams:
            try:
                await self._tell()
            except TryAgain as error:
                self._trouble(str(error))
                raise
            self._trouble("")
        await deferLater(self._clock, PAUSE, lambda: None)

    async def _tell(self) -> None:
        groups = defaultdict(list)
        for stream in self._streams:
            if stream.ready:
                groups[stream.mark].append(stream)
        of_chassis = False
        for mark, streams in groups.items():
            change = await self._database.run(reading.changes, mark)
            of_chassis |= change.of_chassis
            _send(change, streams)
        await self._tell_chassis(at_once=of_chassis)

    async def _tell_chassis(self, *, at_once: bool) -> None:
        now = self._clock.seconds()
        due = self._chassis_at is None or now - self._chassis_at >= CHASSIS_EVERY
        if at_once or due:
            views = await self._database.run(reading.health)
            self._chassis_version += _ageless(views) != _ageless(self._chassis)
            self._chassis, self._chassis_at = views, now
        behind = [s for s in self._streams if s.ready and s.told_chassis != self._chassis_version]
        frames = [reading.health_frame(self._chassis)] if behind else []
        for stream in behind:
            stream.told_chassis = self._chassis_version
            stream.write(frames)

    def _trouble(self, text: str) -> None:
        for stream in self._streams:
            stream.trouble(text)

    def _beat(self) -> None:
        for stream in list(self._streams):
            stream.beat()


def _ageless(views: Iterable[ChassisView]) -> list[ChassisView]:
    """Return the chassis without what changes by itself."""
    return [evolve(one, fault_age=None) for one in views]


def _send(change: Change, streams: list[Stream]) -> None:
    """Send a change to those who can still take it; the others stay at their mark."""
    for stream in streams:
        if stream.ready:
            stream.mark = change.mark
            stream.write(change.frames)


def _complain(failure: object) -> None:
    _log.error("the signs of life of the web pages ended: {failure}", failure=failure)
