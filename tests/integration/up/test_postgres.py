"""The embedded PostgreSQL on bad days."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest

from switchgear_cli.up import identity
from switchgear_cli.up.account import Account
from switchgear_cli.up.errors import CantStart
from switchgear_cli.up.existing import check_server
from switchgear_cli.up.postgres import EmbeddedPostgres, binaries


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the server's account can pass through."""
    place = Path(tempfile.mkdtemp(prefix="switchgear-test-up-"))
    place.chmod(0o711)
    yield place
    shutil.rmtree(place, ignore_errors=True)


def keeps(dsn: str, statement: str) -> list[tuple[object, ...]]:
    """Run a statement and commit it."""
    connection = psycopg2.connect(dsn)
    try:
        with connection, connection.cursor() as cur:
            cur.execute(statement)
            return list(cur.fetchall()) if cur.description else []
    finally:
        connection.close()


def test_start_stop_and_start_again(folder: Path) -> None:
    """What was committed is there after an orderly restart; files are closed to others."""
    first = EmbeddedPostgres(folder)
    keeps(first.start(), "CREATE TABLE t AS SELECT 7 AS x")
    assert (folder / "pg.pass").stat().st_mode & 0o077 == 0
    assert (folder / "pg").stat().st_mode & 0o077 == 0
    first.stop()
    second = EmbeddedPostgres(folder)
    assert keeps(second.start(), "SELECT x FROM t") == [(7,)]
    second.stop()


def test_a_killed_server_recovers(folder: Path) -> None:
    """kill -9 of the server loses no commit, and the stale pid file is no obstacle."""
    server = EmbeddedPostgres(folder)
    keeps(server.start(), "CREATE TABLE t AS SELECT 7 AS x")
    server.kill()
    assert keeps(server.start(), "SELECT x FROM t") == [(7,)]
    server.stop()


def test_a_server_whose_supervisor_was_killed_is_ended(folder: Path) -> None:
    """A supervisor that was killed leaves no server that the next start can't end."""
    code = (
        "import sys, time; from pathlib import Path;"
        "from switchgear_cli.up.postgres import EmbeddedPostgres;"
        "server = EmbeddedPostgres(Path(sys.argv[1])); server.start();"
        "print(server.process.pid, flush=True); time.sleep(60)"
    )
    argv = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        left = identity.identify(int(supervisor.stdout.readline()))
        supervisor.kill()
    server = EmbeddedPostgres(folder)
    keeps(server.start(), "SELECT 1")
    assert left is not None
    assert not left.is_alive()
    server.stop()


def test_a_taken_port_is_told(folder: Path) -> None:
    """A port that another server has is an error with the server's words, and nothing is left."""
    first = EmbeddedPostgres(folder)
    first.start()
    other = Path(tempfile.mkdtemp(prefix="switchgear-test-up-"))
    other.chmod(0o711)
    second = EmbeddedPostgres(other, port=first.port)
    with pytest.raises(CantStart, match="does not start"):
        second.start()
    assert second.process is None
    first.stop()
    shutil.rmtree(other)


def test_no_free_disk(folder: Path) -> None:
    """Where initdb can't write, the error says why, and no half-made data folder is left."""
    code = (
        "import resource, signal, sys; from pathlib import Path;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000));"
        "from switchgear_cli.up.postgres import EmbeddedPostgres;"
        "from switchgear_cli.up.errors import CantStart\n"
        "try: EmbeddedPostgres(Path(sys.argv[1])).start()\n"
        "except CantStart as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "a new database can't be made" in done.stdout
    assert sorted(path.name for path in (folder / "pg").iterdir()) == []
    server = EmbeddedPostgres(folder)
    keeps(server.start(), "SELECT 1")
    server.stop()


def test_binaries_that_the_account_cant_read(folder: Path) -> None:
    """Root with a closed home: the binaries are copied into the state folder, and used from there."""
    if os.geteuid() != 0:
        assert Account().can_read(binaries() / "bin" / "postgres")
        return

    server = EmbeddedPostgres(folder)
    closed = _Closed(server.account.uid, server.account.gid, server.account.name)
    server.account = closed
    keeps(server.start(), "SELECT 1")
    assert list((folder / "pg").glob("binaries-*"))
    server.stop()


class _Closed(Account):
    """An account to which the wheel's folder is closed."""

    def can_read(self, path: Path) -> bool:
        return False


def test_nothing_outside_changes(folder: Path) -> None:
    """Neither owner nor mode of the wheel's files or of the folder above is touched."""
    watched = [binaries(), binaries() / "bin" / "postgres", folder.parent, folder]
    before = [(p.stat().st_mode, p.stat().st_uid, p.stat().st_gid) for p in watched]
    server = EmbeddedPostgres(folder)
    server.start()
    server.stop()
    assert [(p.stat().st_mode, p.stat().st_uid, p.stat().st_gid) for p in watched] == before


def test_an_existing_server(folder: Path) -> None:
    """SWITCHGEAR_DSN is checked: a server that answers is good, none is a clear error."""
    server = EmbeddedPostgres(folder)
    check_server(server.start())
    server.stop()
    with pytest.raises(CantStart, match="can't be used") as caught:
        check_server(f"host=127.0.0.1 port={server.port} user=x password=S3cr-marker-91")
    assert "S3cr-marker-91" not in str(caught.value)


def test_the_password_is_on_no_command_line(folder: Path) -> None:
    """Every user can read command lines."""
    server = EmbeddedPostgres(folder)
    server.start()
    password = (folder / "pg.secret").read_bytes()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert password not in path.read_bytes()
        except OSError:
            continue
    server.stop()
    assert server.process is None
