"""The state folder: all that a `switchgear up` keeps, and the lock that lets only one use it."""

import fcntl
import hashlib
import os
from pathlib import Path

from attrs import frozen

from switchgear_cli.up.errors import CantStart

#: Where root's state folders are: a checkout below a closed home folder can't hold the server's files.
ROOTS_PLACE = Path("/var/lib/switchgear")


def default_folder(checkout: Path) -> Path:
    """Return the folder for a checkout: its ``var``, or for root one of its own outside of it."""
    own = checkout.resolve() / "var"
    if os.geteuid() != 0:
        return own
    return ROOTS_PLACE / f"run-{hashlib.sha256(os.fsencode(own)).hexdigest()[:8]}"


@frozen
class StateFolder:
    """A state folder that is held: `lock` is open as long as it is ours."""

    path: Path
    lock: int

    @classmethod
    def take(cls, path: Path) -> "StateFolder":
        """Make the folder if need be, and take its lock. Raises CantStart.

        Others may pass through it (0711) but not list it: the server's account has its own folder
        inside, and everything else in it is closed.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(0o711)
            lock = os.open(path / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise CantStart(f"the state folder {path} can't be used: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(lock)
            raise CantStart(
                f"another `switchgear up` (pid {holder}) uses {path}; stop that one,"
                " or choose another folder with --state"
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        return cls(path, lock)

    def sub(self, name: str) -> Path:
        """Return a closed subfolder, made if need be."""
        folder = self.path / name
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def leave(self) -> None:
        """Give up the lock."""
        os.close(self.lock)
