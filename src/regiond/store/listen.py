"""Hints from the database: one LISTEN connection that comes back by itself."""

import random
from collections.abc import Callable
from typing import Any

import psycopg2
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure
from txpostgres import txpostgres

from regiond.store.connecting import dsn_of

CHANNEL = "switchgear"

#: Seconds between two signs of life, how long one (or a connect) may take, and the longest pause.
_CHECK_EVERY = 5.0
_LIMIT = 5.0
_LONGEST_PAUSE = 2.0


class _Connection(txpostgres.Connection):  # type: ignore[misc] # the vendor has no types
    """A connection that tells when it is lost, rather than at its next use only."""

    def __init__(self, reactor: Any, lost: Callable[[], None]) -> None:
        super().__init__(reactor=reactor)
        self._lost = lost

    def doRead(self) -> Exception | None:
        """Read; what is wrong with the connection ends it, and is not logged with a trace."""
        try:
            super().doRead()
        except psycopg2.Error as error:
            lost: Exception = error
            return lost
        return None

    def connectionLost(self, reason: Failure) -> None:
        super().connectionLost(reason)
        self._lost()


class Listener:
    """Calls `hint()` on the reactor thread when something may have changed, and after each reconnect."""

    _log = Logger(namespace="regiond.store")

    def __init__(self, reactor: Any, dsn: str, hint: Callable[[], None]) -> None:
        self._reactor = reactor
        self._dsn = dsn_of(dsn)
        self._hint = hint
        self._running: Deferred[None] | None = None
        self._sleeping: Deferred[None] | None = None
        self._stopping = False
        self._listening = False

    @property
    def listening(self) -> bool:
        """Tell whether hints arrive at the moment."""
        return self._listening

    def start(self) -> None:
        """Begin to connect, and never stop trying until `stop`."""
        self._running = ensureDeferred(self._run())

    def stop(self) -> "Deferred[None]":
        """Fires when the connection is closed. Never fails."""
        self._stopping = True
        self._wake()
        done: Deferred[None] = Deferred()
        if self._running is None:
            done.callback(None)
        else:
            self._running.addBoth(lambda _: done.callback(None))
        return done

    async def _run(self) -> None:
        pause = 0.1
        while not self._stopping:
            connection = _Connection(self._reactor, self._wake)
            try:
                await self._listen(connection)
                pause = 0.1
                await self._stay(connection)
            except Exception as error:  # noqa: BLE001 - whatever ended it, a new one is tried
                self._tell_once(error)
                pause = min(pause * 2, _LONGEST_PAUSE)
            finally:
                self._listening = False
                _close(connection)
            if not self._stopping:
                await self._sleep(pause * random.uniform(0.5, 1.0))

    async def _listen(self, connection: _Connection) -> None:
        await connection.connect(self._dsn).addTimeout(_LIMIT, self._reactor)
        connection.addNotifyObserver(lambda _: self._hint())
        await connection.runOperation(f"LISTEN {CHANNEL}").addTimeout(_LIMIT, self._reactor)
        self._listening, self._told = True, False
        self._hint()

    async def _stay(self, connection: _Connection) -> None:
        """Return when stopped; raise when the connection gives no sign of life any more."""
        while not self._stopping:
            await self._sleep(_CHECK_EVERY)
            if not self._stopping:
                if connection.closed:
                    raise ConnectionError("the server closed the connection")
                await connection.runOperation("SELECT 1").addTimeout(_LIMIT, self._reactor)

    _told = False

    def _tell_once(self, error: Exception) -> None:
        if not self._told and not self._stopping:
            self._told = True
            self._log.warn("no hints from the database: {error}", error=str(error).strip())

    async def _sleep(self, seconds: float) -> None:
        self._sleeping = deferLater(self._reactor, seconds)
        try:
            await self._sleeping
        except CancelledError:
            pass
        finally:
            self._sleeping = None

    def _wake(self) -> None:
        if self._sleeping is not None:
            self._sleeping.cancel()


def _close(connection: _Connection) -> None:
    try:
        connection.close()
    except (psycopg2.Error, AttributeError, OSError):
        return  # it never opened, or is gone already
