"""Counting the region's database connections from outside, for those who judge it."""

import psycopg2

from regiond.store.connecting import APPLICATION


class ConnectionCounter:
    """Counts the connections that regions have open, over one connection of its own."""

    def __init__(self, dsn: str) -> None:
        self._connection = psycopg2.connect(dsn, application_name="switchgear-judge")
        self._connection.autocommit = True

    def count(self) -> int:
        """Return how many there are now."""
        with self._connection.cursor() as cur:
            cur.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", (APPLICATION,)
            )
            return int(cur.fetchone()[0])

    def close(self) -> None:
        """Close the own connection."""
        self._connection.close()
