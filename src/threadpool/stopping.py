"""The end of a pool: at once for what is queued, in time for what runs, never hanging."""

from typing import Any

from twisted.internet.defer import Deferred

from .crew import Crew
from .errors import PoolStopped
from .task import Task


class Stopping:
    """Stops one crew; all on the reactor thread."""

    def __init__(self, crew: Crew, reactor: Any) -> None:
        self._crew = crew
        self._reactor = reactor
        self._waiting: list[Deferred[None]] = []
        self._limit: Any = None
        self._over = False

    def begin(self, deadline: float) -> "Deferred[None]":
        """Fires when every thread has left, at the latest after `deadline` seconds."""
        done: Deferred[None] = Deferred()
        self._waiting.append(done)
        if self._over:
            self._finish()
        elif self._limit is None:
            self._limit = self._reactor.callLater(deadline, self._overdue)
            self._refuse_queued()
        return done

    def _refuse_queued(self) -> None:
        crew = self._crew
        with crew.lock:
            crew.stopping = True
            crew.on_empty = lambda: self._reactor.callFromThread(self._finish)
            crew.gate.close()
            ended = crew.ending.queued(PoolStopped("the pool was stopped before it ran"))
            crew.decisions.settle()
            while crew.books.idle:
                crew.books.wake()
            if not crew.books.threads:
                crew.on_empty()
            orders = crew.orders()
        crew.carry_out(orders)
        _tell(crew, ended)

    def _overdue(self) -> None:
        """What still runs is left alone from here on: its threads end with the process."""
        crew = self._crew
        with crew.lock:
            crew.abandoned = True
            late = PoolStopped("the pool was stopped and it did not end in time")
            ended = crew.ending.running(late)
            orders = crew.orders()
        crew.carry_out(orders)
        _tell(crew, ended)
        # After the abandoned tasks' Deferreds, which `_tell` has put on the way.
        self._reactor.callFromThread(self._finish)

    def _finish(self) -> None:
        self._over = True
        if self._limit is not None and self._limit.active():
            self._limit.cancel()
        waiting, self._waiting = self._waiting, []
        for done in waiting:
            done.callback(None)


def _tell(crew: Crew, ended: list[Task[Any]]) -> None:
    for task in ended:
        crew.tell(task)
