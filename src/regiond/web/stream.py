"""One page's stream of events: it is written to only while its reader keeps up, and holds no queue.

    catching up --everything sent--> following --the page, or we, end it--> closed

A reader that is slow is told less often, since its mark stays behind and the next change tells all since
then; one that takes nothing for `SLOW` seconds is cut off, and may come back to where it was.
"""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer, IReactorTime
from zope.interface import implementer

from regiond.web.framing import Mark, beat, frame, opening
from switchgear.wire.arguments import to_json

#: Seconds that a reader may take nothing, and after which it should come back when it was cut off.
SLOW, RETRY = 30.0, 2.0


@implementer(IPushProducer)
class Stream:
    """Writes to `request`. `mark` is what the page has seen, once `following`."""

    def __init__(self, clock: IReactorTime, request: Any, mark: Mark) -> None:
        self.mark = mark
        self.following = False
        self.closed = False
        self.told_chassis = 0
        self.ended: Deferred[None] = Deferred()
        self._clock = clock
        self._request = request
        self._full_since: float | None = None
        self._room: Deferred[None] | None = None
        self._trouble = ""

    @property
    def ready(self) -> bool:
        """Tell whether a change can be sent now."""
        return self.following and not self.closed and self._full_since is None

    def open(self) -> None:
        """Send the headers."""
        self._request.setHeader("Content-Type", "text/event-stream; charset=utf-8")
        self._request.setHeader("Cache-Control", "no-store")
        self._request.setHeader("X-Accel-Buffering", "no")
        self._request.registerProducer(self, True)
        self._request.write(opening(RETRY))

    async def room(self) -> None:
        """Wait until the reader took what was written."""
        if self._full_since is not None and not self.closed:
            self._room = Deferred()
            await self._room

    def write(self, frames: list[bytes]) -> None:
        """Send frames now; nothing after the end."""
        if frames and not self.closed:
            self._request.write(b"".join(frames))

    def trouble(self, text: str) -> None:
        """Tell that the record can't be read now, and why; "" when it can again. Told once."""
        if text != self._trouble and self.ready:
            self._trouble = text
            self.write([frame("trouble", to_json({"text": text}))])

    def beat(self) -> None:
        """Give a sign of life, or cut off who took nothing for too long."""
        if self._full_since is None:
            if self.following:
                self.write([beat(self.mark)])
        elif self._clock.seconds() - self._full_since > SLOW:
            self._request.transport.abortConnection()

    def close(self) -> None:
        """End the stream; the page comes back by itself."""
        if not self.closed:
            self.stopProducing()
            self._request.unregisterProducer()
            self.ended.callback(None)

    def pauseProducing(self) -> None:
        """Note that the reader is behind."""
        if self._full_since is None:
            self._full_since = self._clock.seconds()

    def resumeProducing(self) -> None:
        """Note that the reader is there again."""
        self._full_since = None
        room, self._room = self._room, None
        if room is not None:
            room.callback(None)

    def stopProducing(self) -> None:
        """Note that nobody reads any more; whoever serves the request is told by its own end."""
        self.closed = True
        self.resumeProducing()
