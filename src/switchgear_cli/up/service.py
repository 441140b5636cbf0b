"""One supervised process: started, found ready, ended; and known again by the next supervisor.

stopped --start--> starting --ready--> running --dies--> stopped
                      |                   |
                      +--- not in time ---+--end--> stopped
"""

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import define, field

from switchgear_cli.up import identity
from switchgear_cli.up.account import Account, becoming
from switchgear_cli.up.errors import CantStart

#: Seconds that a process may take until it is ready, and to end in order.
READY_LIMIT, END_LIMIT = 60.0, 20.0


@define
class Service:
    """A process of the stack. `is_ready` says whether it works; `log` gets what it prints."""

    name: str
    argv: Sequence[str]
    is_ready: Callable[[], bool]
    pidfile: Path
    log: Path
    env: Mapping[str, str] | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def end_leftover(self) -> bool:
        """End the process that a killed supervisor left; tell whether there was one."""
        left = identity.read(self.pidfile)
        found = left is not None and left.is_alive()
        if left is not None and found:
            left.end(signal.SIGTERM, END_LIMIT)
        self.pidfile.unlink(missing_ok=True)
        return found

    def start(self) -> None:
        """Start the process, without waiting. Raises CantStart if it can't be."""
        self.log.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            with self.log.open("wb") as out:
                self.process = subprocess.Popen(
                    list(self.argv),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    env=None if self.env is None else dict(self.env),
                    start_new_session=True,  # a Ctrl-C at the terminal is for the supervisor alone
                    preexec_fn=becoming(Account(), signal.SIGTERM),  # noqa: PLW1509 # no threads here
                )
        except OSError as error:
            raise CantStart(f"{self.name} can't be started: {error.strerror}") from None
        known = identity.identify(self.process.pid)
        if known is not None:
            identity.write(self.pidfile, known)

    def await_ready(self, limit: float = READY_LIMIT) -> None:
        """Wait until it works. Raises CantStart with its last words if it ends or takes too long."""
        deadline = time.monotonic() + limit
        while not self.is_ready():
            if not self.is_running:
                raise CantStart(f"{self.name} ended at its start: {self.last_words()}")
            if time.monotonic() > deadline:
                raise CantStart(f"{self.name} is not ready after {limit:g} s: {self.last_words()}")
            time.sleep(0.05)

    @property
    def is_running(self) -> bool:
        """Tell whether the process lives."""
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        """Return the pid of the process that was started last."""
        assert self.process is not None
        return self.process.pid

    def send(self, what: signal.Signals) -> None:
        """Send a signal to the process, if it lives."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(what)

    def kill(self) -> None:
        """End it as a crash does, and wait for its end."""
        self.send(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def end(self, limit: float = END_LIMIT) -> None:
        """End it in order, or by force after `limit` seconds."""
        self.send(signal.SIGTERM)
        if self.process is None:
            return
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.kill()
        self.pidfile.unlink(missing_ok=True)

    def last_words(self) -> str:
        """Return the end of what it printed."""
        try:
            said = self.log.read_text(errors="replace").strip().splitlines()
        except OSError:
            said = []
        return " | ".join(said[-3:]) or "it said nothing"
