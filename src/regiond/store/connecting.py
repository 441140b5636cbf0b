"""Connections to PostgreSQL: how one is opened, and what its errors mean."""

from typing import Any

import psycopg2
from psycopg2.extensions import make_dsn
from psycopg2.extras import NamedTupleCursor

from regiond.store.cursor import Connection
from switchgear.errors import Conflict, TryAgain

#: How our connections name themselves to the server.
APPLICATION = "switchgear-regiond"
#: What every connection of ours is opened with. Times in the options are milliseconds.
_SETTINGS: dict[str, Any] = {
    "connect_timeout": 5,
    "application_name": APPLICATION,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "options": "-c statement_timeout=30000 -c lock_timeout=10000"
    " -c idle_in_transaction_session_timeout=60000 -c timezone=UTC",
}
#: The transaction lost against another one, and can simply be done again.
_LOST_RACES = frozenset({"40001", "40P01"})
#: The server did not get to it in time, is short of something, or is going away or coming up.
_AWAY = frozenset({"55P03", "57014", "25P03"})
_AWAY_CLASSES = ("08", "53", "57P", "58")


def dsn_of(dsn: str) -> str:
    """Return `dsn` with the settings that all our connections have."""
    return str(make_dsn(dsn, **_SETTINGS))


def connect(dsn: str) -> Connection:
    """Open a connection. Raises TryAgain, whose text has no password, while that is not possible."""
    try:
        opened: Connection = psycopg2.connect(dsn_of(dsn), cursor_factory=NamedTupleCursor)
    except psycopg2.OperationalError as error:
        raise TryAgain(f"the database can't be reached: {error}") from None
    return opened


def lost_a_race(error: BaseException) -> bool:
    """Tell whether a transaction failed only because of another one."""
    return isinstance(error, psycopg2.Error) and error.pgcode in _LOST_RACES


def is_away(error: BaseException) -> bool:
    """Tell whether the server, rather than the statement, is the reason of a failure."""
    if isinstance(error, psycopg2.InterfaceError):
        return True
    if not isinstance(error, psycopg2.Error):
        return False
    code = error.pgcode or ""
    return (
        code in _AWAY
        or code.startswith(_AWAY_CLASSES)
        or (not code and isinstance(error, psycopg2.OperationalError))
    )


def translated(error: Exception) -> Exception:
    """Return the error of ours that tells the same; an error of another kind as it is."""
    if is_away(error) or lost_a_race(error):
        return TryAgain(f"the database is away or busy: {error}")
    if isinstance(error, psycopg2.errors.UniqueViolation):
        return Conflict(f"that is taken already: {error.diag.message_detail or ''}")
    return error


def server_version(dsn: str) -> int:
    """Return the server's major version; blocks. Raises TryAgain if it can't be reached."""
    connection = connect(dsn)
    try:
        return int(connection.server_version) // 10_000
    finally:
        connection.close()
