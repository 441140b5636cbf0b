"""A loop that looks when it is hinted to, and anyway every few seconds; one look at a time.

    waiting --hint, or the time is up--> looking --done, or failed--> waiting

A look that fails is tried again after a growing pause; a series of failures of one kind is one line in
the log, and so is its end.
"""

from collections.abc import Awaitable, Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

#: Seconds between two looks without a hint, and at least (many hints become one look).
EVERY = 2.0
AT_LEAST = 0.02
#: Longest pause after failures, in seconds.
LONGEST = 5.0


class Looker:
    """Runs `look` as described above. `what` names it in the log."""

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        what: str,
        look: Callable[[], Awaitable[None]],
        every: float = EVERY,
    ) -> None:
        self._clock = clock
        self._what = what
        self._look = look
        self._every = every
        self._loop: Deferred[None] | None = None
        self._waiting: Deferred[None] | None = None
        self._hinted = False
        self._stopping = False
        self._failures = 0
        self._complaint = ""

    def start(self) -> None:
        """Begin with a look."""
        self._loop = Deferred.fromCoroutine(self._run())

    def hint(self) -> None:
        """Look as soon as may be."""
        self._hinted = True
        self._wake()

    async def stop(self) -> None:
        """End after the look that runs."""
        self._stopping = True
        self._wake()
        if self._loop is not None:
            await self._loop
            self._loop = None

    async def _run(self) -> None:
        while not self._stopping:
            self._hinted = False
            await self._once()
            await self._wait(AT_LEAST)
            if not self._hinted and not self._stopping:
                await self._wait(self._pause())

    async def _once(self) -> None:
        try:
            await self._look()
        except Exception as error:  # noqa: BLE001 # whatever it was, the next look may go well
            self._failures += 1
            self._complain(error)
        else:
            if self._failures:
                self._log.info("{what} goes on", what=self._what)
            self._failures, self._complaint = 0, ""

    def _complain(self, error: Exception) -> None:
        kind = type(error).__name__
        if kind != self._complaint:
            self._complaint = kind
            self._log.warn("{what}: {kind}: {error}", what=self._what, kind=kind, error=str(error))

    def _pause(self) -> float:
        return (
            self._every if not self._failures else min(LONGEST, 0.2 * 2.0 ** min(self._failures, 8))
        )

    async def _wait(self, seconds: float) -> None:
        """Wait; a hint ends it (but never the short wait that bounds the rate)."""
        waiting: Deferred[None] = Deferred()
        timer = self._clock.callLater(seconds, waiting.callback, None)
        if seconds > AT_LEAST:
            self._waiting = waiting
        try:
            await waiting
        finally:
            self._waiting = None
            if timer.active():
                timer.cancel()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.callback(None)
