"""``python -m regiond.main --config regiond.json``: the region daemon as a process.

Exit codes: 0 stopped as asked, 2 the configuration is wrong, 3 it can't start (the text says why). The
only module of the region that touches the global reactor.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from regiond.config import Config
from regiond.keyfile import KeyFileError, read_or_make
from regiond.record.sealing import Keys
from regiond.region import PortTaken, Region, build
from regiond.store.budget import budget
from regiond.store.database import Database
from switchgear import clock
from switchgear.configuring import ConfigError, load
from switchgear.errors import Conflict, TryAgain
from switchgear.logs import start_logging
from threadpool import AdaptivePool, PoolSettings

USAGE, UNUSABLE = 2, 3
#: Seconds to wait for PostgreSQL at the start, and between two tries.
DATABASE_LIMIT, DATABASE_AGAIN = 30.0, 0.25

_log = Logger(namespace="regiond")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a region daemon until SIGTERM or SIGINT; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="regiond", description="Keeps the record of nodes and sends work to the racks."
    )
    parser.add_argument("--config", type=Path, required=True, help="the file regiond.json")
    try:
        config = load(parser.parse_args(argv).config, Config)
    except ConfigError as error:
        return _fail(USAGE, error)
    try:
        start_logging(config.log)
        keys = Keys(read_or_make(config.key_file))
        leases = _await_database(config)
        return _run(config, keys, leases)
    except (KeyFileError, Conflict, TryAgain, PortTaken, OSError) as error:
        return _fail(UNUSABLE, error)


def _await_database(config: Config) -> int:
    """Return how many connections to use, as soon as PostgreSQL answers."""
    deadline = time.monotonic() + DATABASE_LIMIT
    while True:
        try:
            spare = budget(config.dsn, wanted=config.pool.leases)
        except TryAgain as error:
            if time.monotonic() > deadline:
                raise TryAgain(f"PostgreSQL does not answer: {error}") from None
            time.sleep(DATABASE_AGAIN)
        else:
            return min(spare, config.pool.ceiling)


def _run(config: Config, keys: Keys, leases: int) -> int:
    from twisted.internet import reactor as installed

    reactor: Any = installed
    # Timers by a clock that only grows; see `switchgear.clock`.
    reactor.seconds = clock.seconds
    size = config.pool
    pool = AdaptivePool(
        PoolSettings(
            base=size.base,
            ceiling=size.ceiling,
            quotas={"db": size.ceiling, "io": size.ceiling},
            leases=leases,
        ),
        reactor,
    )
    database = Database(pool, config.dsn, connections=leases)
    database.migrate()
    region = build(reactor, config, pool, database, keys)
    region.listen()
    _log.info("at most {leases} database connections, and one listener", leases=leases)
    reactor.callWhenRunning(_start, reactor, region)
    reactor.addSystemEventTrigger(
        "before", "shutdown", lambda: Deferred.fromCoroutine(region.stop()).addErrback(_went_wrong)
    )
    reactor.run()
    return 0


def _start(reactor: Any, region: Region) -> None:
    region.pool.start()
    region.pool.install()
    starting = Deferred.fromCoroutine(region.start())
    starting.addErrback(lambda failure: _give_up(reactor, failure))


def _give_up(reactor: Any, failure: object) -> None:
    _went_wrong(failure)
    reactor.stop()


def _went_wrong(failure: object) -> None:
    _log.error("starting or stopping went wrong: {failure}", failure=failure)


def _fail(code: int, problem: object) -> int:
    sys.stderr.write(f"regiond: {problem}\n")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
