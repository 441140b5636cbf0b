"""Outcomes that no thread brings: a task is refused, cancelled, or given up at a stop."""

from typing import Any

from .accounts import Accounts
from .delivery import Delivery
from .entry import Entry, State
from .errors import PoolStopped
from .task import Task, failure


class Ending:
    """Ends tasks of one pool early; every method is called under the pool's lock."""

    def __init__(self, books: Accounts, delivery: Delivery) -> None:
        self._books = books
        self._delivery = delivery

    def refuse(self, task: Task[Any]) -> None:
        """End a task that was handed in too late to be queued."""
        task.state = State.DONE
        task.look_away()
        task.ended(failure(PoolStopped("the pool is stopped")))
        task.settled = True
        if task.promised is not None:
            self._delivery.add(task)
        self._books.tally.failed += 1
        self._books.tally.finished += 1

    def early(self, task: Task[Any], error: Exception) -> Task[Any]:
        """Give it this outcome, whether it is queued or runs; what it holds is free when it ends."""
        task.look_away()  # it is known why; a line for each queued task at a stop helps nobody
        task.ended(failure(error))
        if task.state is State.QUEUED:
            self._books.withdraw(task)
            self._books.tally.finished += 1
            task.forget_call()
        else:
            self._books.settle_entry(task)
        self._books.tally.failed += 1
        if task.promised is not None:
            self._delivery.add(task)
        return task

    def queued(self, error: Exception) -> list[Task[Any]]:
        """End every queued task with this error; return them."""
        books = self._books
        queued = [entry for queue in books.queues.values() for entry in queue.entries()]
        return [self.early(_task(entry), error) for entry in [*queued, *books.held_back]]

    def running(self, error: Exception) -> list[Task[Any]]:
        """End every wait and detach every running task, likewise."""
        for wait in list(self._books.waits):
            self._books.break_wait(wait, error)
        running = [_task(entry) for entry in self._books.running.values() if not entry.settled]
        return [self.early(task, error) for task in running]


def _task(entry: Entry) -> Task[Any]:
    assert isinstance(entry, Task)
    return entry
