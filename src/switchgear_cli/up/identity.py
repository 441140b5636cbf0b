"""Which process is which: a pid alone is reused, a pid with its start time is not (proc(5))."""

import json
import os
import signal
import time
from pathlib import Path

from attrs import frozen


@frozen
class Identity:
    """A process by its pid and the clock tick of its start, within one boot of the host."""

    pid: int
    started: int
    boot: str

    def is_alive(self) -> bool:
        """Tell whether this very process still runs."""
        return identify(self.pid) == self

    def end(self, first: signal.Signals, patience: float) -> None:
        """Ask it to end, wait up to `patience` seconds, and end it by force."""
        deadline = time.monotonic() + patience
        self._send(first)
        while self.is_alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        self._send(signal.SIGKILL)
        while self.is_alive() and time.monotonic() < deadline + 5:
            time.sleep(0.02)

    def _send(self, what: signal.Signals) -> None:
        if self.is_alive():
            try:
                os.kill(self.pid, what)
            except ProcessLookupError:
                return


def identify(pid: int) -> Identity | None:
    """Return the identity of a running process; None if there is none (or only its remains)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    # The name stands in brackets and may hold anything; the fields after it are counted from 3.
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] == "Z" else Identity(pid, int(fields[19]), boot)


def write(path: Path, identity: Identity) -> None:
    """Write a pid file."""
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps([identity.pid, identity.started, identity.boot]))
    draft.replace(path)


def read(path: Path) -> Identity | None:
    """Read a pid file; None if there is none, or a torn one."""
    try:
        pid, started, boot = json.loads(path.read_text())
        return Identity(int(pid), int(started), str(boot))
    except (OSError, ValueError, TypeError):
        return None
