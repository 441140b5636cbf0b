"""Logging of the daemons: text lines, in files of bounded size or on standard error."""

import sys
from pathlib import Path

from twisted.logger import (
    FilteringLogObserver,
    LogLevel,
    LogLevelFilterPredicate,
    globalLogBeginner,
    textFileLogObserver,
)
from twisted.python.logfile import LogFile

#: Bytes of one log file, and how many older ones are kept.
ROTATE_AT = 10_000_000
KEPT = 5

#: Noisy parts of Twisted that say at INFO what nobody asks for.
_QUIET = (
    "twisted.internet",
    "twisted.web",
    "twisted.protocols.amp",
    "twisted.internet.protocol.Factory",
)


def start_logging(path: Path | None) -> None:
    """Send everything from INFO on to a file (made with its folder, mode 0600), or to standard error.

    Raises OSError if the file can't be written.
    """
    if path is None:
        out = sys.stderr
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = LogFile(
            path.name,
            str(path.parent),
            rotateLength=ROTATE_AT,
            defaultMode=0o600,
            maxRotatedFiles=KEPT,
        )
    observer = FilteringLogObserver(textFileLogObserver(out), [_levels()])
    globalLogBeginner.beginLoggingTo([observer], redirectStandardIO=False, discardBuffer=True)


def _levels() -> LogLevelFilterPredicate:
    levels = LogLevelFilterPredicate(defaultLogLevel=LogLevel.info)
    for namespace in _QUIET:
        levels.setLogLevelForNamespace(namespace, LogLevel.warn)
    return levels
