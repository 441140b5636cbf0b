"""A real regiond as a process, over a record that the test changes as a rack would."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.integration.regiond.record.world import World

#: Seconds that a start or a stop may take.
PATIENCE = 30.0
_SRC = Path(__file__).parents[3] / "src"


class Record(World):
    """A record, with thousands of nodes if need be."""

    def many(self, chassis: str, count: int) -> None:
        """Add deployed nodes, many-00001 and so on, seen on."""
        self.sql(
            """WITH n AS (INSERT INTO node (name, chassis, slot)
                   SELECT 'many-' || to_char(i, 'FM00000'), %(chassis)s, 'm' || i
                     FROM generate_series(1, %(count)s) i RETURNING name),
                 p AS (INSERT INTO power (node, seen, seen_at) SELECT name, 'on', now() FROM n)
               INSERT INTO life (node, status) SELECT name, 'deployed' FROM n""",
            chassis=chassis,
            count=count,
        )


class RunningRegion:
    """The page's address, the record behind it, and the process, which can be ended and started again."""

    def __init__(self, dsn: str, folder: Path) -> None:
        web, clients, racks = free_ports(3)
        self.url = f"http://127.0.0.1:{web}"
        self.world = Record(dsn)
        self._config = folder / "regiond.json"
        self._log = folder / "regiond.log"
        self._process: subprocess.Popen[bytes] | None = None
        plain = {
            "dsn": dsn,
            "key_file": str(folder / "key"),
            "pool": {"base": 4, "ceiling": 8},
            "web": {"host": "127.0.0.1", "port": web},
            "clients": {"host": "127.0.0.1", "port": clients},
            "racks": {"host": "127.0.0.1", "port": racks},
        }
        self._config.write_text(json.dumps(plain), "utf-8")

    def start(self) -> None:
        """Start it, and wait for its page."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "regiond.main", "--config", str(self._config)],
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(_SRC)},
            )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            told = self._log.read_text("utf-8")[-2000:]
            assert self._process.poll() is None, f"it ended: {told}"
            assert time.monotonic() < deadline, f"no page: {told}"
            time.sleep(0.1)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it, and wait for that."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.url, timeout=2):
                return True
        except OSError:
            return False


@contextmanager
def running_region(dsn: str, folder: Path) -> Iterator[RunningRegion]:
    """Run regiond on an empty database in this folder."""
    region = RunningRegion(dsn, folder)
    try:
        region.start()
        yield region
    finally:
        region.end()
        region.world.close()


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
