"""``switchgear up`` as a user meets it: started, used, started twice, killed, and stopped."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchgear_cli.up.ports import free_port

SOURCE = str(Path(__file__).resolve().parents[2] / "src")
ENV = {**os.environ, "PYTHONPATH": SOURCE}


class Up:
    """A `switchgear up` on free ports, with a state folder of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.web, self.client, self.rack = free_port(), free_port(), free_port()
        self.sims = 0

    def argv(self) -> list[str]:
        self.sims = self.sims or free_port()
        ports = {"web-port": self.web, "client-port": self.client, "rack-port": self.rack}
        words = [f"--{name}={port}" for name, port in ports.items()]
        words += [
            f"--sim-port-base={self.sims}",
            f"--state={self.place}",
            "--chassis=1",
            "--servers=4",
        ]
        return [sys.executable, "-u", "-m", "switchgear_cli.main", "up", *words]

    def start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.argv(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENV
        )

    def await_welcome(self, process: "subprocess.Popen[str]") -> str:
        said = ""
        assert process.stdout is not None
        for line in process.stdout:
            said += line
            if "Ctrl-C stops everything" in line:
                return said
        raise AssertionError(f"it ended: {said}")

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        argv = [sys.executable, "-m", "switchgear_cli.main", f"--region=127.0.0.1:{self.client}"]
        return subprocess.run(
            [*argv, *words], capture_output=True, text=True, timeout=90, env=ENV, check=False
        )


@pytest.fixture
def up() -> Iterator[Up]:
    """A place that the server's account can pass through."""
    place = Path(tempfile.mkdtemp(prefix="switchgear-test-up-"))
    place.chmod(0o711)
    yield Up(place / "state")
    shutil.rmtree(place, ignore_errors=True)


def test_use_it_start_it_twice_kill_it_and_stop_it(up: Up) -> None:
    """The page answers, a second start is refused, a kill -9 is survived, and a stop leaves nothing."""
    with up.start() as first:
        said = up.await_welcome(first)
        assert f"http://127.0.0.1:{up.web}" in said
        with urllib.request.urlopen(f"http://127.0.0.1:{up.web}/", timeout=10) as page:
            assert b"Switchgear" in page.read()
        assert up.command("allocate", "--wait", "sm-1-0-0").returncode == 0
        assert up.command("deploy", "--wait", "sm-1-0-0").returncode == 0
        second = subprocess.run(
            up.argv(), capture_output=True, text=True, env=ENV, timeout=60, check=False
        )
        assert second.returncode == 3
        assert f"pid {first.pid}" in second.stdout
        first.kill()

    with up.start() as again:
        up.await_welcome(again)
        assert "deployed" in up.command("node", "show", "sm-1-0-0").stdout
        assert up.command("release", "--wait", "sm-1-0-0").returncode == 0
        again.send_signal(signal.SIGTERM)
        assert again.wait(60) == 0
    for _ in range(100):
        left = _processes(str(up.place))
        if not left:
            break
        threading.Event().wait(0.1)
    assert left == []


def test_ctrl_c_stops_it(up: Up) -> None:
    """SIGINT to the supervisor is an orderly stop."""
    with up.start() as process:
        up.await_welcome(process)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert "stopped" in process.stdout.read()
        assert process.wait(60) == 0


def test_a_daemon_that_dies_is_started_again(up: Up) -> None:
    """kill -9 of regiond under a running `up`: it comes back by itself."""
    with up.start() as process:
        up.await_welcome(process)
        for pid in _processes(str(up.place / "regiond.json")):
            os.kill(pid, signal.SIGKILL)
        for _ in range(100):
            if up.command("node", "list").returncode == 0:
                break
        assert up.command("node", "list").returncode == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_taken_port(up: Up) -> None:
    """A port that another program has is named, with the option that chooses another."""
    with socket.create_server(("127.0.0.1", up.web)):
        done = subprocess.run(
            up.argv(), capture_output=True, text=True, env=ENV, timeout=60, check=False
        )
    assert done.returncode == 3
    assert f"port {up.web}" in done.stdout
    assert "--web-port" in done.stdout
    assert _processes(str(up.place)) == []


def test_a_database_that_is_not_there(up: Up) -> None:
    """SWITCHGEAR_DSN without a server: a clear error, without the password, and exit code 3."""
    dsn = f"host=127.0.0.1 port={free_port()} user=x password=S3cr-marker-91"
    env = {**ENV, "SWITCHGEAR_DSN": dsn}
    done = subprocess.run(
        up.argv(), capture_output=True, text=True, env=env, timeout=60, check=False
    )
    assert done.returncode == 3
    assert "SWITCHGEAR_DSN" in done.stdout
    assert "S3cr-marker-91" not in done.stdout + done.stderr


def _processes(word: str) -> list[int]:
    """List the processes with a word in their command line, but not the supervisor or ourselves."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in command and " up " not in command and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found
