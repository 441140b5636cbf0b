"""Measuring the daemons from outside while an act runs: their threads and database connections."""

from pathlib import Path

from attrs import define, field

from regiond.store.counting import ConnectionCounter
from switchgear_cli.up.stack import Stack

#: Seconds between two looks.
EVERY = 0.1


@define
class Gauges:
    """Peaks since `begin`. `look` is cheap."""

    stack: Stack
    counter: ConnectionCounter
    peak_threads: int = 0
    peak_connections: int = 0
    looks: int = field(default=0)

    def begin(self) -> None:
        """Start a new act."""
        self.peak_threads = self.peak_connections = self.looks = 0

    def look(self) -> None:
        """Take a measurement."""
        self.looks += 1
        for name in ("regiond", "rackd"):
            self.peak_threads = max(self.peak_threads, _threads(self.stack.services[name].pid))
        self.peak_connections = max(self.peak_connections, self.counter.count())


def _threads(pid: int) -> int:
    """Return the number of threads of a process (proc(5), ``status``); 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Threads:")), 0)
