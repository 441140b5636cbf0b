"""Outcomes on their way to the reactor thread: one `callFromThread` carries many."""

from collections import deque
from typing import Any

from twisted.internet.interfaces import IReactorFromThreads

from .task import Task


class Delivery:
    """Fires the Deferreds of ended tasks on the reactor thread, in the order they ended.

    Needs no lock: appending and popping are atomic, and `_drain` lowers the flag before it counts,
    so that a task appended too late for one drain has scheduled the next.
    """

    def __init__(self, reactor: IReactorFromThreads) -> None:
        self._reactor = reactor
        self._ended: deque[Task[Any]] = deque()
        self._scheduled = False

    def push(self, task: Task[Any]) -> None:
        """From any thread: fire this task's Deferred soon."""
        self._ended.append(task)
        if not self._scheduled:
            self._scheduled = True
            self._reactor.callFromThread(self._drain)

    def _drain(self) -> None:
        """Fire what is there now; what comes meanwhile waits a turn, so the reactor breathes."""
        self._scheduled = False
        for _ in range(len(self._ended)):
            self._ended.popleft().fire()
