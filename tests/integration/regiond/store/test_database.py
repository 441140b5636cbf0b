import time
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import deferLater
from twisted.trial.unittest import TestCase

from regiond.store.connecting import connect
from regiond.store.database import Database
from regiond.store.listen import Listener
from switchgear.errors import Conflict, TryAgain
from threadpool import AdaptivePool, PoolSettings


def number(cur: Any) -> int:
    """Do the smallest transaction that has a result."""
    cur.execute("SELECT 4711 AS number")
    return int(cur.fetchall()[0].number)


def end_others(dsn: str) -> None:
    """Let the server end every other connection to this database, as if it was restarted."""
    connection = connect(dsn)
    with connection.cursor() as cur:
        cur.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connection.commit()
    connection.close()


class Databases(TestCase):
    timeout = 30

    @pytest.fixture(autouse=True)
    def _dsn(self, dsn: str) -> None:
        self.dsn = dsn

    def setUp(self) -> None:
        self.pool = AdaptivePool(PoolSettings(base=4, ceiling=8, leases=2), reactor)
        self.pool.start()
        self.addCleanup(self.pool.stop)
        self.database = self.open(self.dsn)

    def open(self, dsn: str) -> Database:
        database = Database(self.pool, dsn, connections=2)
        self.addCleanup(database.stop)
        return database

    async def test_a_transaction_is_kept_or_undone_as_a_whole(self) -> None:
        """What a step did is committed with its result, and undone with its error."""

        def make(cur: Any, fail: bool) -> str:
            cur.execute("CREATE TABLE made (x int)")
            if fail:
                raise Conflict("no")
            return "made"

        with pytest.raises(Conflict):
            await self.database.run(make, True)
        assert await self.database.run(make, fail=False) == "made"

    async def test_connections_are_bounded_and_used_again(self) -> None:
        """Any number of transactions uses at most as many connections as were allowed."""

        def slow(cur: Any) -> None:
            cur.execute("SELECT pg_sleep(0.01)")

        await gatherResults([self.database.run(slow) for _ in range(20)])
        assert 1 <= self.database.peak_connections <= 2

    async def test_a_deadlock_is_tried_again(self) -> None:
        """Two transactions that lock in opposite orders both succeed in the end."""

        def prepare(cur: Any) -> None:
            cur.execute("CREATE TABLE pair AS SELECT x FROM generate_series(1, 2) x")

        def both(cur: Any, first: int, second: int) -> None:
            cur.execute("UPDATE pair SET x = x WHERE x = %s", (first,))
            cur.execute("SELECT pg_sleep(0.3)")
            cur.execute("UPDATE pair SET x = x WHERE x = %s", (second,))

        await self.database.run(prepare)
        await gatherResults([self.database.run(both, 1, 2), self.database.run(both, 2, 1)])

    async def test_a_connection_that_died_meanwhile_is_replaced(self) -> None:
        """After the server ended the kept connections, the next transaction succeeds on a new one."""
        assert await self.database.run(number) == 4711
        end_others(self.dsn)
        assert await self.database.run(number) == 4711

    async def test_a_server_that_is_away_is_a_try_again_without_a_password(self) -> None:
        """While nothing answers, a transaction fails with TryAgain at once, and names no password."""
        away = self.open("host=127.0.0.1 port=1 user=u password=S3cr-marker-91 dbname=d")
        for _ in range(4):
            with pytest.raises(TryAgain) as caught:
                await away.run(number)
            assert "S3cr" not in str(caught.value)

    async def test_a_connection_lost_in_a_transaction_is_a_try_again(self) -> None:
        """A first transaction whose connection is cut fails with TryAgain, and the next one works."""

        def cut(cur: Any) -> None:
            cur.execute("SELECT pg_terminate_backend(pg_backend_pid())")

        with pytest.raises(TryAgain):
            await self.database.run(cut)
        assert await self.database.run(number) == 4711

    async def test_a_taken_key_is_a_conflict(self) -> None:
        """What the database refuses as doubled is a Conflict of ours."""

        def double(cur: Any) -> None:
            cur.execute("CREATE TABLE one (x int UNIQUE)")
            cur.execute("INSERT INTO one VALUES (1), (1)")

        with pytest.raises(Conflict):
            await self.database.run(double)

    async def test_nothing_is_begun_after_stop_or_outside_of_the_pool(self) -> None:
        """A stopped database answers TryAgain; a thread that is not the pool's gets no transaction."""
        with pytest.raises(RuntimeError):
            self.database.run_here(number)
        self.database.stop()
        with pytest.raises(TryAgain):
            await self.database.run(number)

    async def test_the_schema_is_made(self) -> None:
        """`migrate` makes the tables."""
        await self.pool.defer("io", self.database.migrate)
        assert await self.database.run(lambda cur: cur.execute("SELECT FROM node")) is None


class Listeners(TestCase):
    timeout = 30

    @pytest.fixture(autouse=True)
    def _dsn(self, dsn: str) -> None:
        self.dsn = dsn

    def setUp(self) -> None:
        self.hints = 0
        self.waiting: Deferred[None] | None = None
        self.listener = Listener(reactor, self.dsn, self.hint)
        self.addCleanup(self.listener.stop)
        self.listener.start()

    def hint(self) -> None:
        self.hints += 1
        if self.waiting is not None:
            waiting, self.waiting = self.waiting, None
            waiting.callback(None)

    def next_hint(self) -> "Deferred[None]":
        self.waiting = Deferred()
        return self.waiting.addTimeout(10, reactor)

    async def test_a_notify_is_a_hint_also_after_the_connection_was_lost(self) -> None:
        """A hint comes when listening begins, with every NOTIFY, and again after a reconnect."""
        await self.next_hint()
        assert self.listener.listening
        heard = self.next_hint()
        self.notify()
        await heard
        again = self.next_hint()
        end_others(self.dsn)
        began = time.monotonic()
        await again
        assert time.monotonic() - began < 5
        heard = self.next_hint()
        self.notify()
        await heard
        await self.listener.stop()
        assert not self.listener.listening

    async def test_stop_ends_a_listener_that_never_connected(self) -> None:
        """A listener whose server is away stops at once when asked to."""
        away = Listener(reactor, "host=127.0.0.1 port=1 dbname=d", self.hint)
        away.start()
        await deferLater(reactor, 0.05)
        assert not away.listening
        await away.stop()

    def notify(self) -> None:
        connection = connect(self.dsn)
        with connection.cursor() as cur:
            cur.execute("NOTIFY switchgear")
        connection.commit()
        connection.close()
