from collections.abc import Iterator

import pytest

from tests.postgres import fresh_database, running_postgres


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """One PostgreSQL server for the session, by its DSN."""
    with running_postgres() as dsn:
        yield dsn


@pytest.fixture
def dsn(server: str) -> str:
    """An empty database of its own, by its DSN."""
    return fresh_database(server)
