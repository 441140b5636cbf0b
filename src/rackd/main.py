"""``python -m rackd.main --config rackd.json``: the rack daemon as a process.

Exit codes: 0 stopped as asked, 2 the configuration is wrong, 3 the state folder is another rackd's or
can't be used. The only module of the rack that touches the global reactor.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from rackd.alone import AlreadyRunning, State
from rackd.config import Config, ConfigError, load
from rackd.daemon import build
from switchgear import clock
from switchgear.logs import start_logging

USAGE, UNUSABLE = 2, 3

_log = Logger()


def main(argv: Sequence[str] | None = None) -> int:
    """Run a rack daemon until SIGTERM or SIGINT; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="rackd", description="Speaks to the chassis of one rack, for the regions."
    )
    parser.add_argument("--config", type=Path, required=True, help="the file rackd.json")
    try:
        config = load(parser.parse_args(argv).config)
    except ConfigError as error:
        return _fail(USAGE, error)
    try:
        state = State.take(config.state)
    except AlreadyRunning as error:
        return _fail(UNUSABLE, error)
    except OSError as error:
        return _fail(UNUSABLE, f"the state folder {config.state} can't be used: {error}")
    return _run(config, state)


def _run(config: Config, state: State) -> int:
    from twisted.internet import reactor as installed

    reactor: Any = installed
    # Timers by a clock that only grows; see `switchgear.clock`.
    reactor.seconds = clock.seconds
    try:
        start_logging(config.log)
        daemon = build(reactor, config, state, clock.boot_id())
    except OSError as error:
        return _fail(UNUSABLE, f"the rack can't start: {error}")
    reactor.callWhenRunning(daemon.start)
    reactor.addSystemEventTrigger(
        "before", "shutdown", lambda: Deferred.fromCoroutine(daemon.stop()).addErrback(_stop_failed)
    )
    reactor.run()
    return 0


def _stop_failed(failure: object) -> None:
    _log.error("stopping went wrong: {failure}", failure=failure)


def _fail(code: int, problem: object) -> int:
    sys.stderr.write(f"rackd: {problem}\n")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
