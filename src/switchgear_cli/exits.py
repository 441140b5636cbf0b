"""Exit codes of the ``switchgear`` command, and which error means which."""

from enum import IntEnum, unique

from switchgear.client import NotReachable, StillRunning
from switchgear.errors import BadRequest, Conflict, SwitchgearError, TryAgain


@unique
class Exit(IntEnum):
    """What a script can act on."""

    OK = 0
    SOME_FAILED = 1
    USAGE = 2
    NOT_REACHABLE = 3
    STILL_RUNNING = 4
    REFUSED = 5
    INTERRUPTED = 130


def exit_of(error: SwitchgearError) -> Exit:
    """Return the exit code of an error of the region or of the client."""
    match error:
        case StillRunning():
            return Exit.STILL_RUNNING
        case NotReachable() | TryAgain():
            return Exit.NOT_REACHABLE
        case BadRequest():
            return Exit.USAGE
        case Conflict():
            return Exit.REFUSED
        case _:
            return Exit.SOME_FAILED
