"""One rack daemon for each state folder: the folder, its lock, and the sign that the rack is ready."""

import fcntl
import os
from pathlib import Path
from typing import IO

from attrs import frozen


class AlreadyRunning(Exception):
    """Another rack daemon works with this state folder. Stop it, or use another folder."""


@frozen
class State:
    """A state folder that this process holds alone, until it ends."""

    folder: Path
    _lock: IO[str]

    @classmethod
    def take(cls, folder: Path) -> "State":
        """Make the folder (closed to others) and lock it. Raises AlreadyRunning, OSError."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / "rackd.lock").open("a+", encoding="ascii")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(lock)
            lock.close()
            raise AlreadyRunning(
                f"another rackd{holder} already works with {folder}; stop it, or use another folder"
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        (folder / "ready").unlink(missing_ok=True)
        return cls(folder, lock)

    @property
    def journal(self) -> Path:
        """Return the file of the intents."""
        return self.folder / "journal"

    def show_ready(self) -> None:
        """Write ``ready`` with this process' id; it appears whole or not at all."""
        fresh = self.folder / "ready.new"
        fresh.write_text(f"{os.getpid()}\n", encoding="ascii")
        fresh.replace(self.folder / "ready")

    def leave(self) -> None:
        """Take the sign away and give the lock back."""
        (self.folder / "ready").unlink(missing_ok=True)
        self._lock.close()


def _holder(lock: IO[str]) -> str:
    lock.seek(0)
    number = lock.read(20).strip()
    return f" (process {number})" if number.isdigit() else ""
