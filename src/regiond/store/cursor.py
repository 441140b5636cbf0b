"""The little of the DB-API that the record and its tests need, without a database library."""

from typing import Any, Protocol


class Cursor(Protocol):
    """A cursor inside of an open transaction; its rows have their columns as attributes."""

    @property
    def rowcount(self) -> int:
        """How many rows the last statement returned or changed."""
        ...

    def execute(self, query: str, vars: Any = None) -> object:  # noqa: A002 - the vendor's name
        """Run one statement with named parameters."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the rows of the last statement."""
        ...


class Connection(Protocol):
    """A connection, used by one thread at a time; a transaction begins with its first statement."""

    @property
    def closed(self) -> int:
        """Not 0 when it can't be used any more."""
        ...

    @property
    def server_version(self) -> int:
        """The server's version, 180006 for 18.6."""
        ...

    def cursor(self) -> Any:
        """Return a context manager that gives a `Cursor`."""
        ...

    def commit(self) -> None:
        """End the transaction, and keep what it did."""
        ...

    def rollback(self) -> None:
        """End the transaction, and undo what it did."""
        ...

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        ...
