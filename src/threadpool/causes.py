"""Who caused what: the running task, carried by contextvars, and by a token where they end.

A context says one of: nothing; the task that runs in it; the wait on whose behalf the reactor runs
it; or, as text, a cause that came in from another process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .entry import Entry, Wait

Cause = Entry | Wait | str

CAUSE: ContextVar[Cause | None] = ContextVar("threadpool_cause", default=None)

_MOST = 8
"""Steps a token keeps: the nearest are the ones that may still wait."""

LONGEST = 512
"""Characters of a token that are looked at: it comes from another process."""


def token(home: str) -> str:
    """The causal token of this context, for an RPC's envelope; empty when nothing caused it.

    Tasks of the process' pool `home` are named `home.id`; steps are joined by ">", the last is the
    nearest.
    """
    cause = CAUSE.get()
    if cause is None or isinstance(cause, str):
        return cause or ""
    entry = cause if isinstance(cause, Entry) else cause.waiter
    steps = entry.token.split(">") if entry.token else []
    steps += [f"{home}.{id_}" for id_ in reversed([entry.id, *entry.ancestors()])]
    return ">".join(steps[-_MOST:])


def own_steps(home: str, text: str) -> Iterator[int]:
    """The ids of the pool's own tasks in a token, the nearest first; foreign steps are passed."""
    for step in reversed(text.split(">")):
        whose, _, number = step.rpartition(".")
        if whose == home and number.isascii() and number.isdecimal():
            yield int(number)


@contextmanager
def caused_by(cause: Cause) -> Iterator[None]:
    """What is submitted inside has this cause."""
    before = CAUSE.set(cause)
    try:
        yield
    finally:
        CAUSE.reset(before)
