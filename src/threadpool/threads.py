"""The threads of a pool as its books see them: counted, never touched. A worker is any object."""

from .orders import Grow, Order, Wake
from .settings import PoolSettings
from .tally import Tally


class ThreadBook:
    """How many threads there are, and what they do.

    `blocked` are parked in a wait, `opaque` those of them of whose waits nobody knows what they
    wait for, `searching` were woken or started and have not looked for work yet. `ceiling` is the
    settings', or lower for a while after the system refused a thread.
    """

    def __init__(self, settings: PoolSettings) -> None:
        self.settings = settings
        self.tally = Tally()
        self.threads = self.searching = self.blocked = self.opaque = 0
        self.idle: list[object] = []
        self.ceiling = settings.ceiling
        self._refused_at = 0.0
        self.open = False  # threads may be made
        self.orders: list[Order] = []

    def grow(self, reason: str, *, newest: bool = False) -> None:
        """One more thread is being started."""
        if self.threads >= self.settings.base:
            self.tally.grown[reason] = self.tally.grown.get(reason, 0) + 1
        self.threads += 1
        self.searching += 1
        self.tally.peak_threads = max(self.tally.peak_threads, self.threads)
        self.orders.append(Grow(newest))

    def wake(self) -> None:
        """The worker that was parked last is to look for work: its caches are the warmest."""
        self.searching += 1
        self.orders.append(Wake(self.idle.pop()))

    def not_started(self, now: float) -> None:
        """The system refused a thread: what it has is the ceiling until `recover`."""
        self.threads -= 1
        self.searching -= 1
        self.ceiling = max(1, self.threads)
        self.tally.refused += 1
        self._refused_at = now

    def recover(self, now: float) -> None:
        """Try the whole ceiling again `quiet` seconds after a refusal."""
        settings = self.settings
        if self.ceiling < settings.ceiling and now - self._refused_at >= settings.quiet:
            self.ceiling = settings.ceiling

    def leave(self, worker: object, at_least: int) -> bool:
        """A parked worker leaves if more than `at_least` threads are there; False if it stays."""
        if self.threads <= at_least or worker not in self.idle:
            return False
        self.idle.remove(worker)
        self.threads -= 1
        return True

    def spare(self) -> int:
        """Threads that have nothing to do, or are on their way to look."""
        return len(self.idle) + self.searching

    def can_grow(self) -> bool:
        """Whether another thread may be made."""
        return self.open and self.threads < self.ceiling

    def short_of_base(self) -> bool:
        """Whether fewer than `base` threads could run a new root.

        A thread that waits for who knows what counts as one that could: such waits end by
        themselves, or need what is queued last. For them the ticks add threads, one by one.
        """
        return self.threads - self.blocked + self.opaque < self.settings.base

    def busy(self) -> int:
        """Threads that run a task and do not wait inside of it."""
        return self.threads - len(self.idle) - self.searching - self.blocked
