"""Processes that a test starts, hears, waits for and ends."""

import io
import json
import os
import sys
from pathlib import Path

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import ProcessProtocol, Protocol
from twisted.web.client import Agent, FileBodyProducer

ROOT = Path(__file__).parents[3]


class Running(ProcessProtocol):
    """A Python module as a process. `output` and `errors` hold what it wrote; `code` how it ended."""

    def __init__(self, module, *arguments):
        self.output, self.errors = b"", b""
        self.code = None
        self._waiting = []
        paths = [*sys.path, str(ROOT / "src")]
        self.process = reactor.spawnProcess(
            self,
            sys.executable,
            [sys.executable, "-m", module, *map(str, arguments)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )

    def outReceived(self, data):
        """Keep."""
        self.output += data
        self._look()

    def errReceived(self, data):
        """Keep."""
        self.errors += data
        self._look()

    def processEnded(self, reason):
        """Note how it ended."""
        self.code = (
            reason.value.exitCode if reason.value.exitCode is not None else -reason.value.signal
        )
        self._look()

    def until(self, condition):
        """Fire when the condition holds, which is looked at whenever the process does something."""
        waiting = Deferred()
        self._waiting.append((condition, waiting))
        self._look()
        return waiting

    async def ended(self):
        """Wait for its end; return its exit code, or the negative signal."""
        await self.until(lambda: self.code is not None)
        return self.code

    async def end(self, signal="TERM"):
        """Send a signal, unless it has ended, and wait for its end."""
        if self.code is None:
            self.process.signalProcess(signal)
        return await self.ended()

    def _look(self):
        ready = [entry for entry in self._waiting if entry[0]()]
        self._waiting = [entry for entry in self._waiting if entry not in ready]
        for _, waiting in ready:
            waiting.callback(None)


class SimulatedChassis(Running):
    """A simulated SM15K without chance: no faults, fixed times."""

    def __init__(self, *options):
        calm = ("--drop-rate", 0, "--error-rate", 0, "--slow-rate", 0, "--service", 0.02, 0.02)
        super().__init__("switchgear_sim", "sm15k", "--port", 0, "--servers", 8, *calm, *options)

    async def started(self):
        """Wait until it listens."""
        await self.until(lambda: b"\n" in self.output or self.code is not None)
        ports = json.loads(self.output.splitlines()[0])
        self.url = f"http://127.0.0.1:{ports['port']}/v2.0"
        self._side = f"http://127.0.0.1:{ports['audit_port']}"

    async def ask(self, path, body=None):
        """Ask the side door; with a body, tell it something."""
        method = b"GET" if body is None else b"POST"
        content = None if body is None else FileBodyProducer(io.BytesIO(json.dumps(body).encode()))
        answer = await Agent(reactor).request(
            method, f"{self._side}{path}".encode(), bodyProducer=content
        )
        body = _Body()
        answer.deliverBody(body)
        return json.loads(await body.whole or b"null")


class _Body(Protocol):
    """Gathers the body of an answer."""

    def __init__(self):
        self.data, self.whole = b"", Deferred()

    def dataReceived(self, data):
        """Keep."""
        self.data += data

    def connectionLost(self, reason):
        """Give it."""
        self.whole.callback(self.data)
