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


class Task(Entry, Generic[T]):
    """One call handed to a pool. Made by `AdaptivePool.submit` only.

    `id`, `kind`, `key`, `height`, `depth`, `parent` and `state` are as described in `Entry`. The
    failure of a task that nobody asked for its outcome is logged when the task is forgotten.
    """

    __slots__ = (
        "_args", "_context", "_desk", "_f", "_kwargs", "_listener", "_outcome", "_promise", "_seen",
    )  # fmt: skip

    def __init__(
        self,
        desk: Desk,
        id: int,  # noqa: A002 - the field's word
        kind: str,
        call: tuple[Callable[..., T], tuple[Any, ...], dict[str, Any]],
        *,
        key: str = "",
        height: int = 0,
        origin: Origin = ROOT,
    ) -> None:
        super().__init__(id, kind, key=key, height=height, origin=origin)
        self._desk = desk
        self._f: Callable[..., T] | None
        self._f, self._args, self._kwargs = call
        self._context: Context | None = copy_context()
        self._promise: Deferred[T] | None = None
        self._listener: Listener | None = None
        self._outcome: T | Failure | None = None
        self._seen = False

    @property
    def name(self) -> str:
        """Its number, kind and function, as a person would look for it."""
        f = self._f
        called = getattr(f, "__qualname__", None) or type(f).__name__
        return f"task {self.id} ({self.kind}{f' {called}' if f is not None else ''})"

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
        assert self._context is not None
        try:
            return self._context.copy().run(self._body)
        except BaseException:  # noqa: BLE001 - a pool's thread survives whatever a task raises
            return failure()

    def _body(self) -> T:
        CAUSE.set(self)
        assert self._f is not None
        return self._f(*self._args, **self._kwargs)

    def ended(self, outcome: T | Failure) -> bool:
        """Keep the outcome; True if somebody is to be told. The first outcome counts."""
        if self.settled:
            return False
        self._outcome = outcome
        return self._promise is not None or self._listener is not None

    def forget_call(self) -> None:
        """Let go of the function and its arguments: who keeps the task needs the outcome only."""
        self._f, self._args, self._kwargs = None, (), {}

    def promise(self) -> "Deferred[T]":
        """Make (once) and return the Deferred; under the pool's lock."""
        if self._promise is None:
            self._seen = True
            self._promise = Deferred(self._cancelled)
        return self._promise

    def _cancelled(self, _promise: "Deferred[T]") -> None:
        self.cancel()

    def listen(self, listener: Listener) -> None:
        """Tell this listener of the outcome; before the task is queued."""
        self._seen = True
        self._listener = listener

    def tell(self) -> None:
        """Tell the listener, in this thread."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        try:
            listener(not isinstance(self._outcome, Failure), self._outcome)
        except BaseException:  # noqa: BLE001 - the same: the thread goes on
            _log.failure("The callback of {task} failed", task=self.name)

    def promised(self) -> bool:
        """Whether there is a Deferred to fire."""
        return self._promise is not None

    def fire(self) -> None:
        """Fire the Deferred, on the reactor thread, in the submitter's context."""
        promise, context = self._promise, self._context
        if promise is None or context is None or promise.called:
            return
        self._context = None
        context.run(promise.callback, cast(T, self._outcome))

    def outcome(self) -> T:
        """Return the result, or raise what the task raised; after it has settled."""
        self._seen = True
        if isinstance(self._outcome, Failure):
            self._outcome.raiseException()
        return cast(T, self._outcome)

    def look_away(self) -> None:
        """Nobody minds how it ended."""
        self._seen = True

    def __del__(self) -> None:
        outcome = getattr(self, "_outcome", None)
        if isinstance(outcome, Failure) and not self._seen:
            _log.failure("{task} failed and nobody asked", failure=outcome, task=f"task {self.id}")
