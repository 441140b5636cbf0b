"""A real PostgreSQL for tests: one server a session, an empty database for whoever asks."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg2

from switchgear_cli.up.postgres import EmbeddedPostgres

_numbers = itertools.count(1)


@contextmanager
def running_postgres() -> Iterator[str]:
    """Run a server in a temporary folder; yields its DSN."""
    folder = Path(tempfile.mkdtemp(prefix="switchgear-test-pg-"))
    folder.chmod(0o711)
    server = EmbeddedPostgres(folder)
    try:
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def fresh_database(dsn: str) -> str:
    """Make an empty database on the server; return its DSN."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    connection = psycopg2.connect(dsn)
    connection.autocommit = True
    try:
        with connection.cursor() as cur:
            cur.execute(f"CREATE DATABASE {name}")
    finally:
        connection.close()
    return dsn.replace("dbname=postgres", f"dbname={name}")
