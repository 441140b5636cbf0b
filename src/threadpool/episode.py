"""One starvation, however many tasks it hits, is one episode: one count, one warning."""


class Episode:
    """Begins with the first sign, ends when the queue is empty.

    One that begins within `quiet` seconds of the last one's end is still the same: work that
    trickles in must not write a line for each task.
    """

    def __init__(self, quiet: float) -> None:
        self.quiet = quiet
        self.active = False
        self._ended: float | None = None

    def begin(self, now: float) -> bool:
        """True if this is the beginning of a new episode."""
        if self.active:
            return False
        self.active = True
        return self._ended is None or now - self._ended >= self.quiet

    def end(self, now: float) -> None:
        """The queue is empty."""
        self.active = False
        self._ended = now
