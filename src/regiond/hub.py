"""The hub: hints from the database's one listening connection, passed on to all who follow something."""

from collections.abc import Callable

from twisted.logger import Logger


class Hub:
    """Calls every subscriber when something may have changed. A hint has no meaning but "look again"."""

    _log = Logger()

    def __init__(self) -> None:
        self._subscribers: dict[int, Callable[[], None]] = {}
        self._last = 0

    def subscribe(self, look: Callable[[], None]) -> Callable[[], None]:
        """Call `look` at every hint; it must be quick. Returns what ends the subscription."""
        self._last += 1
        number = self._last
        self._subscribers[number] = look

        def unsubscribe() -> None:
            self._subscribers.pop(number, None)

        return unsubscribe

    def hint(self) -> None:
        """Something may have changed."""
        for look in list(self._subscribers.values()):
            try:
                look()
            except Exception:  # noqa: BLE001 # one subscriber's defect must not keep others from looking
                self._log.failure("a subscriber of hints failed")
