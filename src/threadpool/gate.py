"""The clock of the pool: a thread of its own, because the reactor may be the one that is stuck."""

from collections.abc import Callable
from threading import Lock, Thread


class Gate:
    """Calls `tick` every `seconds` while it returns True; otherwise sleeps until it is rung.

    `asleep`, `ring` and `close` belong to the owner's lock; `tick` takes that lock itself and sets
    `asleep` before it returns False.
    """

    def __init__(self, tick: Callable[[], bool], seconds: float) -> None:
        self.asleep = True
        self._tick = tick
        self._seconds = seconds
        self._closed = False
        self._bell = Lock()
        self._bell.acquire()

    def start(self) -> None:
        """Start the thread; it sleeps at first, or ticks if it was rung before."""
        Thread(target=self._run, name="threadpool gate", daemon=True).start()

    def ring(self) -> None:
        """Begin to tick."""
        self.asleep = False
        self._bell.release()

    def close(self) -> None:
        """End the thread, now or at its next start."""
        if not self._closed:
            self._closed = True
            if self._bell.locked():
                self._bell.release()

    def _run(self) -> None:
        while not self._closed:
            self._bell.acquire()
            self._watch()

    def _watch(self) -> None:
        while not self._closed:
            # Only `close` rings while it ticks, so a bell here means the end.
            if self._bell.acquire(timeout=self._seconds) or not self._tick():
                return
