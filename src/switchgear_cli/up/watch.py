"""Watching over the stack until somebody says stop: what dies is started again, with growing pauses."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attrs import define, field

from switchgear_cli.up.errors import CantStart
from switchgear_cli.up.stack import Stack

#: Seconds between two looks, the first and the longest pause before a restart.
LOOK_EVERY, FIRST_PAUSE, LONGEST_PAUSE = 0.5, 0.5, 30.0
#: A process that lived so long begins with the first pause again.
STABLE = 60.0


@contextmanager
def stop_signals() -> Iterator[Callable[[float], bool]]:
    """Catch SIGINT, SIGTERM and SIGHUP; yields a wait that tells whether one has come."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    caught = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {what: signal.signal(what, lambda *_: None) for what in caught}
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def came(seconds: float) -> bool:
        ready, _, _ = select.select([reader], [], [], seconds)
        return bool(ready)

    try:
        yield came
    finally:
        signal.set_wakeup_fd(woken)
        for what, handler in before.items():
            signal.signal(what, handler)
        os.close(reader)
        os.close(writer)


@define
class _Pause:
    """When one part may be started again, and how long to wait the next time."""

    seconds: float = FIRST_PAUSE
    until: float = 0.0
    started: float = 0.0


@define
class Watch:
    """Restarts dead parts of a stack."""

    stack: Stack
    tell: Callable[[str], None]
    _pauses: dict[str, _Pause] = field(factory=dict)

    def look(self, now: float) -> None:
        """Start what died and whose pause is over."""
        postgres = self.stack.postgres
        if postgres is not None and (
            postgres.process is None or postgres.process.poll() is not None
        ):
            self._again("PostgreSQL", now, postgres.start)
        for name, service in self.stack.services.items():
            if not service.is_running:
                self._again(name, now, service.start)

    def _again(self, name: str, now: float, start: Callable[[], object]) -> None:
        pause = self._pauses.setdefault(name, _Pause())
        if not pause.until:
            if now - pause.started > STABLE:
                pause.seconds = FIRST_PAUSE
            pause.until = now + pause.seconds
            self.tell(f"{name} ended; it is started again in {pause.seconds:g} s")
        if now < pause.until:
            return
        pause.until, pause.started = 0.0, now
        pause.seconds = min(LONGEST_PAUSE, pause.seconds * 2)
        try:
            start()
        except CantStart as error:
            self.tell(f"{name} can't be started again: {error}")


def until_stopped(stack: Stack, tell: Callable[[str], None], came: Callable[[float], bool]) -> None:
    """Watch over the stack until a stop signal comes."""
    watch = Watch(stack, tell)
    while not came(LOOK_EVERY):
        watch.look(time.monotonic())
