"""One thread of the pool: look for work, run it, park."""

from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol

from twisted.python.failure import Failure

from .task import Task


class Foreman(Protocol):
    """Where a worker gets its work."""

    def arrive(self, worker: "Worker") -> Task[Any] | None:
        """The first task after it was started or woken; None: park, or leave."""
        ...

    def turn(self, worker: "Worker", done: Task[Any], outcome: Any) -> Task[Any] | None:
        """Book the outcome and get the next task; None: park, or leave."""
        ...

    def patience(self) -> float | None:
        """How long it may park, in seconds; None: until it is woken."""
        ...

    def leave(self, worker: "Worker") -> bool:
        """Whether it may end after it was parked so long."""
        ...


class Worker:
    """The thread's side. `stack` holds the tasks on it, the running one last; `gone` ends it."""

    def __init__(self, foreman: Foreman, *, newest: bool = False) -> None:
        self.newest = newest
        self.gone = False
        self.thread = 0  # the system's name for it, once it runs
        self.stack: list[Task[Any]] = []
        self._foreman = foreman
        self._bell = Lock()
        self._bell.acquire()

    def wake(self) -> None:
        """End its parking; from any thread, once for each time it parked."""
        self._bell.release()

    def run(self, enter: Callable[["Worker"], None]) -> None:
        """Work until the foreman lets it go."""
        enter(self)
        arrive, turn, stack = self._foreman.arrive, self._foreman.turn, self.stack
        while True:
            task = arrive(self)
            while task is not None:
                stack.append(task)
                outcome = task.perform()  # never raises
                stack.pop()
                task = turn(self, task, outcome)
            if self.gone or not self._park():
                return

    def perform(self, task: Task[Any]) -> Any | Failure:
        """Run one task on top of what this thread is doing."""
        self.stack.append(task)
        outcome = task.perform()  # never raises
        self.stack.pop()
        return outcome

    def _park(self) -> bool:
        """Sleep until woken; False if it is to end."""
        while True:
            patience = self._foreman.patience()
            if self._bell.acquire(timeout=-1 if patience is None else patience):
                return True
            if self._foreman.leave(self):
                return False
