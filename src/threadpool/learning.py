"""Which functions turned out to be what a stuck wait was waiting for, although nothing said so.

A worker waits for an RPC; the other side calls back; the call's work is queued here with no cause that
anybody knows. When everything stands still, such an orphan is started. If a wait for the reactor that
is older than the orphan ends soon after it, its function is learned, and from then on its tasks are
taken for somebody's continuation at once. To learn wrongly changes an order, never a result.
"""

from .entry import Entry, Wait

_MOST = 1000


class Learning:
    """Functions by their label, at most a thousand."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self._ended: tuple[str, float, float] | None = None

    def knows(self, label: str) -> bool:
        """Whether tasks of this function were waited for before."""
        return label in self.known

    def orphan_ended(self, orphan: Entry, now: float) -> None:
        """A task that was started only because everything stood still has ended."""
        self._ended = (orphan.label, orphan.queued_at, now)

    def answered(self, wait: Wait, now: float, within: float) -> str:
        """The reactor answered a wait; return the label that is thereby learned, or nothing."""
        ended, self._ended = self._ended, None
        if ended is None:
            return ""
        label, queued_at, at = ended
        fits = wait.since <= queued_at and now - at <= within
        if not (fits and label) or label in self.known or len(self.known) >= _MOST:
            return ""
        self.known.add(label)
        return label
