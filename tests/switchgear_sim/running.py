"""Simulated chassis as processes, for every test that needs one."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import frozen


@frozen
class RunningChassis:
    """A chassis process: its ports, and its side door."""

    process: subprocess.Popen[str]
    port: int
    audit_port: int

    @property
    def url(self) -> str:
        """Return the base of the REST API."""
        return f"http://127.0.0.1:{self.port}/v2.0"

    def ask(self, path: str, body: object = None) -> Any:
        """Ask the side door; a body makes it a POST."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.audit_port}{path}", data)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def turn(self, **knobs: object) -> None:
        """Turn knobs."""
        self.ask("/knobs", knobs)

    def is_on(self, slot: str) -> bool:
        """Return the physical truth about one server."""
        return bool(self.ask("/truth")[slot]["active"])


@contextmanager
def chassis(*options: str, faults: bool = False) -> Iterator[RunningChassis]:
    """Run a chassis; without `faults` it makes no mistakes and is fast unless told otherwise."""
    quiet = ["--drop-rate", "0", "--error-rate", "0", "--slow-rate", "0", "--service", "0", "0"]
    quick = ["--off-effect", "0", "0.1", "--on-effect", "0", "0.1"]
    argv = [sys.executable, "-m", "switchgear_sim", "sm15k", "--die-with-parent"]
    argv += [] if faults else [*quiet, *quick]
    with subprocess.Popen([*argv, *options], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ports = json.loads(process.stdout.readline())
            yield RunningChassis(process, ports["port"], ports["audit_port"])
        finally:
            process.terminate()
            process.wait(10)
