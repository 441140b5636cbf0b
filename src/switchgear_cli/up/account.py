"""Under which account a process runs, and that it ends with the process that started it.

PostgreSQL refuses to run as root (its own rule), so root starts it as an unprivileged account.
"""

import ctypes
import os
import pwd
import signal
from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from switchgear_cli.up.errors import CantStart

_PR_SET_PDEATHSIG = 1
#: Accounts that may run the server when we are root, the best first.
CANDIDATES = ("postgres", "nobody")

_libc = ctypes.CDLL(None, use_errno=True)


@frozen
class Account:
    """A user and group to run as; None as `uid` means: as we are."""

    uid: int | None = None
    gid: int = 0
    name: str = ""

    def own(self, path: Path) -> None:
        """Give a file or folder of ours to the account."""
        if self.uid is not None:
            os.chown(path, self.uid, self.gid)

    def can_read(self, path: Path) -> bool:
        """Tell whether the account can reach and read a file that we can read."""
        if self.uid is None:
            return True
        steps = [*reversed(path.resolve().parents), path.resolve()]
        return all(self._allowed(step) for step in steps)

    def _allowed(self, step: Path) -> bool:
        status = step.stat()
        shift = 6 if status.st_uid == self.uid else 3 if status.st_gid == self.gid else 0
        wanted = 0o5 if step.is_dir() else 0o4
        if step.is_dir():
            wanted = 0o1
        return (status.st_mode >> shift) & wanted == wanted


def server_account() -> Account:
    """Return the account for PostgreSQL. Raises CantStart if root has none to give it."""
    if os.geteuid() != 0:
        return Account()
    for name in CANDIDATES:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        if found.pw_uid != 0:
            return Account(found.pw_uid, found.pw_gid, name)
    raise CantStart(
        "PostgreSQL does not run as root, and there is neither an account postgres nor nobody to run"
        " it as; start as a plain user, or set SWITCHGEAR_DSN"
    )


def becoming(account: Account, end_signal: signal.Signals) -> Callable[[], None]:
    """Return what a child does before its program starts: change the account, and die with us.

    The death signal is set last, because a change of credentials clears it (prctl(2)).
    """
    parent = os.getpid()

    def become() -> None:
        if account.uid is not None:
            os.setgroups([])
            os.setgid(account.gid)
            os.setuid(account.uid)
        _libc.prctl(_PR_SET_PDEATHSIG, end_signal)
        if os.getppid() != parent:
            os._exit(1)

    return become
