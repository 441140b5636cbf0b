import threading
from collections.abc import Callable
from typing import Any

import pytest

from regiond.store import migrating
from regiond.store.budget import budget
from regiond.store.connecting import connect
from regiond.store.migrating import Migration, migrate, migrations, version
from switchgear.errors import Conflict, TryAgain


def on(dsn: str, f: Callable[[Any], Any]) -> Any:
    """Run `f` on a connection of its own."""
    connection = connect(dsn)
    try:
        return f(connection)
    finally:
        connection.close()


def version_of(connection: Any) -> int:
    """Return the version of the schema."""
    with connection.cursor() as cur:
        return version(cur)


def test_migrating_twice_changes_nothing_the_second_time(dsn: str) -> None:
    """An empty database gets the newest schema, and keeps it."""
    assert on(dsn, version_of) == 0
    assert on(dsn, migrate) == len(migrations())
    assert on(dsn, migrate) == len(migrations())
    assert on(dsn, version_of) == len(migrations())


def test_regions_that_start_at_once_migrate_once(dsn: str) -> None:
    """Several regions that migrate at the same time all succeed."""
    reached: list[int] = []
    threads = [threading.Thread(target=lambda: reached.append(on(dsn, migrate))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert reached == [len(migrations())] * 4


def test_a_newer_schema_is_left_alone(dsn: str) -> None:
    """A regiond that is older than the schema refuses to start on it, and says so."""

    def age(connection: Any) -> None:
        migrate(connection)
        with connection.cursor() as cur:
            cur.execute("INSERT INTO schema_version (version, name) VALUES (9999, 'later')")
        connection.commit()

    on(dsn, age)
    with pytest.raises(Conflict, match="9999"):
        on(dsn, migrate)


def test_a_failed_migration_leaves_the_schema_as_it_was(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When one step fails, none of the steps of that start is applied."""
    steps = [
        *migrations(),
        Migration(len(migrations()) + 1, "x", "CREATE TABLE x (y int); SELECT 1/0"),
    ]
    monkeypatch.setattr(migrating, "migrations", lambda: steps)
    with pytest.raises(Exception, match="division"):
        on(dsn, migrate)
    assert on(dsn, version_of) == 0


def test_the_budget_leaves_room_for_others(dsn: str) -> None:
    """The budget is below the server's limit and shrinks with the number of regions."""
    alone = budget(dsn)
    assert 2 <= budget(dsn, regions=2) < alone
    assert budget(dsn, wanted=3) == 3
    with pytest.raises(Conflict, match="max_connections"):
        budget(dsn, wanted=100_000)
    with pytest.raises(TryAgain):
        budget("host=127.0.0.1 port=1 user=postgres dbname=postgres")
