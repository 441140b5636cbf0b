"""Keeps a link to one region: connects, greets, waits for the link's end, and connects again.

    waiting (0.2 to 5 s) --> connecting --> greeting --> linked --> waiting
          ^                      |             |
          +------- failed -------+-------------+

Twisted's ClientService would do most of this, but it has no move for a link that ends while it is
being prepared, which is what a region does that restarts.
"""

import random
from collections.abc import Callable
from typing import cast

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Factory
from twisted.internet.task import deferLater
from twisted.logger import Logger

from rackd.link import Bench, RackLink

#: Seconds until a region is tried again: after the first failure, and at most.
FIRST_RETRY, LAST_RETRY = 0.2, 5.0


def retry_after(failures: int, chance: Callable[[], float] = random.random) -> float:
    """Return the seconds before the next try, spread so that not all racks come at once."""
    longest = min(LAST_RETRY, FIRST_RETRY * 1.6 ** min(failures, 20))
    return longest * (0.5 + chance() / 2)


class Keeper:
    """Keeps one link. `where` names the region in the log."""

    _log = Logger()

    def __init__(self, endpoint: IStreamClientEndpoint, where: str, bench: Bench) -> None:
        self._endpoint = endpoint
        self._where = where
        self._bench = bench
        self._complained = ""
        self._loop: Deferred[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._loop = Deferred.fromCoroutine(self._keep())
        self._loop.addErrback(self._ended)

    async def stop(self) -> None:
        """End the link, and make no other."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.cancel()
            await loop

    async def _keep(self) -> None:
        failures = 0
        while True:
            try:
                await self._one()
                failures = 0
            except CancelledError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it was, the next try may succeed
                failures += 1
                self._complain(error)
            await deferLater(self._bench.clock, retry_after(failures))

    async def _one(self) -> None:
        """Connect and greet, and return when the link has ended."""
        factory = Factory.forProtocol(lambda: RackLink(self._bench))
        factory.noisy = False
        link = cast(RackLink, await self._endpoint.connect(factory))
        try:
            await link.greet()
            self._complained = ""
            await link.gone()
        finally:
            link.close()
            await link.gone()

    def _complain(self, error: Exception) -> None:
        """Log a failure once, not once for each try."""
        text = f"{type(error).__name__}: {error}"
        if text != self._complained:
            self._complained = text
            self._log.warn("region {where}: no link: {text}", where=self._where, text=text)

    def _ended(self, failure: object) -> None:
        if self._loop is not None:
            self._log.error("keeping a link failed: {failure}", failure=failure)
