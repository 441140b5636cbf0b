"""Migrations: numbered files that only ever are added, each applied once, all in one transaction."""

import re
from importlib.resources import files

from attrs import frozen

from regiond.store.cursor import Connection, Cursor
from switchgear.errors import Conflict

#: Number of the advisory lock that keeps two regions from migrating at the same time.
_LOCK = 5_240_524
_FILE = re.compile(r"(\d{4})_\w+\.sql")


@frozen
class Migration:
    """One step of the schema; steps are numbered from 1 without a gap."""

    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """Return every migration, in order. ValueError if a number is missing or comes twice."""
    folder = files("regiond.store") / "migrations"
    found = sorted(
        Migration(int(match[1]), entry.name, entry.read_text("utf-8"))
        for entry in folder.iterdir()
        if (match := _FILE.fullmatch(entry.name))
    )
    if [step.version for step in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations must be numbered 0001, 0002, ... without a gap")
    return found


def version(cur: Cursor) -> int:
    """Return the version of the schema; 0 for an empty database."""
    cur.execute("SELECT to_regclass('schema_version') IS NOT NULL AS there")
    if not cur.fetchall()[0].there:
        return 0
    cur.execute("SELECT coalesce(max(version), 0) AS version FROM schema_version")
    return int(cur.fetchall()[0].version)


def migrate(connection: Connection) -> int:
    """Apply what is missing and return the version; safe beside other regions that do the same.

    Raises Conflict if the schema is newer than this code; nothing is changed then.
    """
    try:
        with connection.cursor() as cur:
            reached = _migrate(cur)
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
    return reached


def _migrate(cur: Cursor) -> int:
    # Another region may be at it for long, and a step may take its time.
    cur.execute("SET LOCAL lock_timeout = 0")
    cur.execute("SET LOCAL statement_timeout = 0")
    cur.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    steps = migrations()
    at = version(cur)
    if at > len(steps):
        raise Conflict(
            f"the database has version {at} of the schema, this regiond knows {len(steps)}:"
            " start a newer regiond, or restore a backup from before the upgrade"
        )
    for step in steps[at:]:
        _apply(cur, step)
    return len(steps)


def _apply(cur: Cursor, step: Migration) -> None:
    cur.execute(
        "CREATE TABLE IF NOT EXISTS schema_version (version integer PRIMARY KEY,"
        " name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    cur.execute(step.sql)
    cur.execute(
        "INSERT INTO schema_version (version, name) VALUES (%s, %s)", (step.version, step.name)
    )
