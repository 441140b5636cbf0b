"""Outcomes on their way to the reactor thread: one `callFromThread` carries many."""

from collections import deque
from typing import Any

from twisted.internet.interfaces import IReactorFromThreads

from .task import Task


class Delivery:
    """Fires the Deferreds of ended tasks on the reactor thread, in the order they ended.

    Needs no lock: appending and popping are atomic, and `_drain` lowers the flag before it counts,
    so that a task appended too late for one drain is announced for the next.

    To announce wakes the reactor, which costs as much as several small tasks. So a worker that goes
    on with another task leaves it to a thread that is on its way anyway.
    """

    def __init__(self, reactor: IReactorFromThreads) -> None:
        self._reactor = reactor
        self._ended: deque[Task[Any]] = deque()
        self._announced = False
        self.add = self._ended.append
        """From any thread: fire this task's Deferred, once it is announced."""

    def announce(self) -> None:
        """From any thread: fire soon what was added."""
        if self._ended and not self._announced:
            self._announced = True
            self._reactor.callFromThread(self._drain)

    def _drain(self) -> None:
        """Fire what is there now; what comes meanwhile waits a turn, so the reactor breathes."""
        self._announced = False
        ended = self._ended
        for _ in range(len(ended)):
            ended.popleft().fire()
        if ended:
            self.announce()
