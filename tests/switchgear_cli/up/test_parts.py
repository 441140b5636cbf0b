"""Parts of the supervisor, one at a time."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from switchgear_cli.up import identity
from switchgear_cli.up.errors import CantStart
from switchgear_cli.up.folder import StateFolder, default_folder
from switchgear_cli.up.ports import answers, check_free, free_port
from switchgear_cli.up.service import Service


def service(folder: Path, code: str, ready: str | None = "ready") -> Service:
    """Build a service that runs a piece of Python."""
    return Service(
        name="part",
        argv=[sys.executable, "-c", code],
        is_ready=lambda: ready is None or (folder / ready).exists(),
        pidfile=folder / "part.pid",
        log=folder / "log" / "part.out",
    )


READY = "import pathlib, sys, time; pathlib.Path({!r}).touch(); time.sleep(60)"


def test_only_one_holds_a_folder(tmp_path: Path) -> None:
    """A second start beside the first is refused with the first one's pid."""
    held = StateFolder.take(tmp_path / "state")
    with pytest.raises(CantStart, match=rf"pid {os.getpid()}"):
        StateFolder.take(tmp_path / "state")
    held.leave()
    StateFolder.take(tmp_path / "state").leave()


def test_a_folder_that_cant_be_made(tmp_path: Path) -> None:
    """A file in the place of the folder is a clear error."""
    (tmp_path / "file").touch()
    with pytest.raises(CantStart, match="can't be used"):
        StateFolder.take(tmp_path / "file" / "state")


def test_default_folder(tmp_path: Path) -> None:
    """A plain user's state is in the checkout; root's has a place of its own for each checkout."""
    folder = default_folder(tmp_path)
    if os.geteuid() == 0:
        assert folder.parent == Path("/var/lib/switchgear")
        assert folder != default_folder(tmp_path / "other")
    else:
        assert folder == tmp_path.resolve() / "var"


def test_a_taken_port_is_named() -> None:
    """The message says which port, for what, and which option chooses another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CantStart, match=rf"port {port} .*web page.*--web-port"):
            check_free(port, "the web page", "--web-port")
        assert answers(port)
    check_free(port, "the web page", "--web-port")
    assert not answers(free_port())


def test_identity_tells_processes_apart() -> None:
    """A process is itself by its start time; a dead one, or another with its pid, is not."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        known = identity.identify(process.pid)
        assert known is not None
        assert known.is_alive()
        assert not identity.Identity(known.pid, known.started + 1, known.boot).is_alive()
        known.end(signal.SIGTERM, 5)
        assert not known.is_alive()


@pytest.mark.parametrize("text", ["", "[1", "[1]", '["a", 2, "b"]', "{}"])
def test_a_torn_pid_file_is_no_process(tmp_path: Path, text: str) -> None:
    """Whatever stands in a pid file, nothing is killed by mistake."""
    path = tmp_path / "part.pid"
    path.write_text(text)
    assert identity.read(path) is None
    assert identity.read(tmp_path / "none.pid") is None


def test_a_service_starts_and_ends(tmp_path: Path) -> None:
    """Started, ready, and ended in order."""
    part = service(tmp_path, READY.format(str(tmp_path / "ready")))
    part.start()
    part.await_ready(20)
    assert part.is_running
    part.end(5)
    assert not part.is_running
    assert not part.pidfile.exists()


def test_a_service_that_dies_tells_its_last_words(tmp_path: Path) -> None:
    """A part that ends at its start is an error with what it said."""
    part = service(tmp_path, "import sys; print('no disk'); sys.exit(3)")
    part.start()
    with pytest.raises(CantStart, match="no disk"):
        part.await_ready(20)


def test_a_service_that_is_not_ready_in_time(tmp_path: Path) -> None:
    """A part that never gets ready is an error after its limit."""
    part = service(tmp_path, "import time; time.sleep(60)")
    part.start()
    with pytest.raises(CantStart, match="not ready"):
        part.await_ready(0.3)
    part.kill()


def test_a_service_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    """A part that does not end is ended by force."""
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + READY.format(
        str(tmp_path / "ready")
    )
    part = service(tmp_path, code)
    part.start()
    part.await_ready(20)
    part.end(0.3)
    assert not part.is_running


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    """A program that can't be run is a clear error."""
    part = service(tmp_path, "")
    part.argv = [str(tmp_path / "nothing")]
    with pytest.raises(CantStart, match="can't be started"):
        part.start()


def test_a_leftover_is_ended(tmp_path: Path) -> None:
    """What an earlier supervisor left is known by its pid file, and ended; nothing else is."""
    first = service(tmp_path, READY.format(str(tmp_path / "ready")))
    first.start()
    first.await_ready(20)
    second = service(tmp_path, "")
    reaper = threading.Thread(target=first.process.wait if first.process else None)
    reaper.start()
    assert second.end_leftover()
    reaper.join()
    assert not first.is_running
    assert not second.end_leftover()


def test_services_die_with_their_supervisor(tmp_path: Path) -> None:
    """kill -9 of the supervisor takes its parts along."""
    code = (
        "import sys, time; from pathlib import Path;"
        "from tests.switchgear_cli.up.test_parts import READY, service;"
        "folder = Path(sys.argv[1]);"
        "part = service(folder, READY.format(str(folder / 'ready')));"
        "part.start(); part.await_ready(20); print(part.pid, flush=True); time.sleep(60)"
    )
    argv = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        part = identity.identify(int(supervisor.stdout.readline()))
        assert part is not None
        supervisor.kill()
    for _ in range(100):
        if not part.is_alive():
            break
        threading.Event().wait(0.05)
    assert not part.is_alive()
