"""Transactions on PostgreSQL, run as plain functions in the pool's `db` class."""

import random
import time
from collections.abc import Callable
from threading import Lock
from typing import Concatenate, ParamSpec, TypeVar

from twisted.internet.defer import Deferred

from regiond.store.connecting import connect, is_away, lost_a_race, translated
from regiond.store.cursor import Connection, Cursor
from regiond.store.migrating import migrate
from switchgear.errors import TryAgain
from threadpool import AdaptivePool

T = TypeVar("T")
P = ParamSpec("P")

#: How often a transaction is begun at most, when it loses against others.
ATTEMPTS = 5


class Database:
    """The record's database. At most `connections` of them are open at a time (the pool's leases).

    `pause(seconds)` is how a thread waits between two attempts.
    """

    def __init__(
        self,
        pool: AdaptivePool,
        dsn: str,
        *,
        connections: int,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._pool = pool
        self._dsn = dsn
        self._connections = connections
        self._pause = pause
        self._lock = Lock()
        self._idle: list[Connection] = []
        self._open = 0
        self._peak = 0
        self._stopped = False

    @property
    def peak_connections(self) -> int:
        """The most connections that were open at a time."""
        return self._peak

    def run(
        self, f: Callable[Concatenate[Cursor, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> "Deferred[T]":
        """Run `f(cur, *args)` in one transaction, in a `db` task of the pool; on the reactor thread.

        Tried again, at most 5 times, after a deadlock or a serialization failure. Fails with TryAgain
        while PostgreSQL is away, or with what `f` raised.
        """
        return self._pool.defer("db", self.run_here, f, *args, **kwargs)

    def run_here(
        self, f: Callable[Concatenate[Cursor, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do the same in this thread, which must run a `db` task of the pool."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._once(lambda cur: f(cur, *args, **kwargs))
            except _Stale:
                self._drop_idle()
            except Exception as error:
                if not lost_a_race(error) or attempt == ATTEMPTS:
                    raise translated(error) from error
                self._pause(random.uniform(0.5, 1.0) * 0.02 * 2**attempt)
        raise TryAgain("the database closed the connection again and again")

    def migrate(self) -> None:
        """Bring the schema up to date; blocks. Raises TryAgain, and Conflict if it is newer than this code."""
        connection = connect(self._dsn)
        try:
            migrate(connection)
        except Exception as error:
            raise translated(error) from error
        finally:
            connection.close()

    def stop(self) -> None:
        """Close every idle connection, and each other one when its transaction ends."""
        self._stopped = True
        self._drop_idle()

    # -- one attempt

    def _once(self, f: Callable[[Cursor], T]) -> T:
        connection, used = self._take()
        try:
            with self._pool.transaction(), connection.cursor() as cur:
                result = f(cur)
        except BaseException as error:
            self._give_back(connection, sound=_rolled_back(connection))
            if used and is_away(error):
                raise _Stale from error
            raise
        self._commit(connection)
        return result

    def _commit(self, connection: Connection) -> None:
        """Commit. If it fails as the connection does, nobody knows whether it happened: no retry."""
        try:
            connection.commit()
        except BaseException:
            self._give_back(connection, sound=_rolled_back(connection))
            raise
        self._give_back(connection, sound=True)

    def _take(self) -> tuple[Connection, bool]:
        """Return a connection, and whether it was used before (and may have died since)."""
        with self._lock:
            if self._stopped:
                raise TryAgain("this region is stopping")
            if self._idle:
                return self._idle.pop(), True
            if self._open >= self._connections:
                raise TryAgain("all database connections of this region are in use")
            self._open += 1
            self._peak = max(self._peak, self._open)
        try:
            return connect(self._dsn), False
        except BaseException:
            with self._lock:
                self._open -= 1
            raise

    def _give_back(self, connection: Connection, *, sound: bool) -> None:
        with self._lock:
            if sound and not self._stopped and not connection.closed:
                self._idle.append(connection)
                return
            self._open -= 1
        connection.close()

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
            self._open -= len(idle)
        for connection in idle:
            connection.close()


class _Stale(Exception):
    """A connection that was kept turned out to be dead before anything was committed on it."""


def _rolled_back(connection: Connection) -> bool:
    """Undo what was not committed; tell whether the connection is still good."""
    try:
        connection.rollback()
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it is not used again
        return False
    return not connection.closed
