from collections.abc import Iterator

import pytest

from tests.integration.regiond.record.world import World
from tests.postgres import fresh_database, running_postgres


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """One PostgreSQL server for the session, by its DSN."""
    with running_postgres() as dsn:
        yield dsn


@pytest.fixture
def world(server: str) -> Iterator[World]:
    """A record in a database of its own."""
    world = World(fresh_database(server))
    try:
        yield world
    finally:
        world.close()
