"""A task: a function to be run by a pool, and its outcome."""

from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any, Generic, Protocol, TypeVar, cast

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from .causes import CAUSE
from .entry import ROOT, Entry, Origin

T = TypeVar("T")

Listener = Callable[[bool, Any], object]
"""Called with (True, result) or (False, Failure), in the thread that ended the task."""

_log = Logger(namespace="threadpool")


def failure(error: BaseException | None = None) -> Failure:
    """A Failure of this error, or of the one that is being handled."""
    make: Callable[..., Failure] = Failure  # its constructor has no annotations
    return make(error)


class Desk(Protocol):
    """What a task may ask of its pool."""

    def cancel(self, task: "Task[Any]") -> bool:
        """End it now, if it has not ended."""
        ...

    def deferred_of(self, task: "Task[T]") -> "Deferred[T]":
        """Its Deferred."""
        ...


class _Unheard:
    """Logs a failure when its task is forgotten, unless somebody has asked for the outcome.

    An object of its own, because a finalizer on every task would cost each of them.
    """

    def __init__(self, outcome: Failure, task: str) -> None:
        self.outcome: Failure | None = outcome
        self._task = task

    def __del__(self) -> None:
        if self.outcome is not None:
            _log.failure("{task} failed and nobody asked", failure=self.outcome, task=self._task)


class Task(Entry, Generic[T]):
    """One call handed to a pool. Made by `AdaptivePool.submit` only.

    `id`, `kind`, `key`, `height`, `age`, `limit`, `depth`, `parent` and `state` are as described in
    `Entry`. The failure of a task that nobody asked for its outcome is logged when the task is
    forgotten.
    """

    __slots__ = (
        "_args", "_context", "_desk", "_f", "_guard", "_kwargs", "_outcome", "_seen", "listener",
        "promised",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - a task is made for each call: no value in between
        self,
        desk: Desk,
        id: int,  # noqa: A002 - the field's word
        kind: str,
        call: tuple[Callable[..., T], tuple[Any, ...], dict[str, Any]],
        key: str = "",
        height: int = 0,
        origin: Origin = ROOT,
        age: int | None = None,
        limit: float | None = None,
    ) -> None:
        Entry.__init__(self, id, kind, key, height, origin, age, limit)
        self._desk = desk
        self._f: Callable[..., T] | None
        self._f, self._args, self._kwargs = call
        self._context: Context = copy_context()
        self.promised: Deferred[T] | None = None  # for the pool: the Deferred, once it is asked for
        self.listener: Listener | None = None  # for the pool: see `listen`
        self._outcome: T | Failure | None = None
        self._guard: _Unheard | None = None
        self._seen = False

    @property
    def name(self) -> str:
        """Its number, kind and function, as a person would look for it."""
        f = self._f
        called = getattr(f, "__qualname__", None) or type(f).__name__
        return f"task {self.id} ({self.kind}{f' {called}' if f is not None else ''})"

    @property
    def label(self) -> str:
        """Its function's module and name; empty when it has ended."""
        f = self._f
        if f is None:
            return ""
        named = f if hasattr(f, "__qualname__") else type(f)
        return f"{getattr(named, '__module__', '')}.{named.__qualname__}"

    def __repr__(self) -> str:
        return f"<Task {self.name} {self.state.value}>"

    @property
    def deferred(self) -> "Deferred[T]":
        """Fires on the reactor thread, in the context of who submitted, with the outcome.

        The same Deferred each time. Cancelling it cancels the task.
        """
        return self._desk.deferred_of(self)

    def cancel(self) -> bool:
        """End a queued task before it runs; no longer wait for a running one. False when it ended.

        Its outcome is then `CancelledError`. What a running one holds stays held until it ends.
        """
        return self._desk.cancel(self)

    # -- for the pool

    def belongs_to(self, desk: Desk) -> bool:
        """Whether it is a task of that pool."""
        return self._desk is desk

    def perform(self) -> T | Failure:
        """Run the function, in its own copy of the submitter's context; never raises."""
        f, context = self._f, self._context.copy()
        try:
            context.run(CAUSE.set, self)
            assert f is not None
            return context.run(f, *self._args, **self._kwargs)
        except BaseException:  # noqa: BLE001 - a pool's thread survives whatever a task raises
            return failure()

    def ended(self, outcome: T | Failure) -> None:
        """Keep the outcome, if it is the first one."""
        if self.settled:
            return
        self._outcome = outcome
        if isinstance(outcome, Failure) and not self._seen:
            self._guard = _Unheard(outcome, f"task {self.id}")

    def forget_call(self) -> None:
        """Let go of the function and its arguments: who keeps the task needs the outcome only."""
        self._f, self._args, self._kwargs = None, (), {}

    def promise(self) -> "Deferred[T]":
        """Make (once) and return the Deferred; under the pool's lock."""
        if self.promised is None:
            self.look_away()
            self.promised = Deferred(self._cancelled)
        return self.promised

    def _cancelled(self, _promise: "Deferred[T]") -> None:
        self.cancel()

    def listen(self, listener: Listener) -> None:
        """Tell this listener of the outcome; before the task is queued."""
        self._seen = True
        self.listener = listener

    def tell(self) -> None:
        """Tell the listener, in this thread."""
        listener, self.listener = self.listener, None
        if listener is None:
            return
        try:
            listener(not isinstance(self._outcome, Failure), self._outcome)
        except BaseException:  # noqa: BLE001 - the same: the thread goes on
            _log.failure("The callback of {task} failed", task=self.name)

    def fire(self) -> None:
        """Fire the Deferred, on the reactor thread, in the submitter's context."""
        promise = self.promised
        if promise is not None and not promise.called:
            self._context.run(promise.callback, cast(T, self._outcome))

    def outcome(self) -> T:
        """Return the result, or raise what the task raised; after it has settled."""
        self.look_away()
        if isinstance(self._outcome, Failure):
            self._outcome.raiseException()
        return cast(T, self._outcome)

    def look_away(self) -> None:
        """Nobody minds how it ended, or somebody has asked."""
        self._seen = True
        if self._guard is not None:
            self._guard.outcome = None
