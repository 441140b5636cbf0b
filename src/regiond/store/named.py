"""SQL by name: ``nodes.members`` is the statement under ``-- name: members`` in sql/nodes.sql."""

import re
from functools import cache
from importlib.resources import files
from typing import Any

from regiond.store.cursor import Cursor

_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@cache
def statements(topic: str) -> dict[str, str]:
    """Return the statements of one .sql file by their names. ValueError if a name comes twice."""
    text = (files("regiond.store") / "sql" / f"{topic}.sql").read_text("utf-8")
    parts = _NAME.split(text)[1:]
    found = dict(zip(parts[::2], (sql.strip() for sql in parts[1::2]), strict=True))
    if len(found) != len(parts) // 2:
        raise ValueError(f"{topic}.sql has two statements of one name")
    return found


def statement(name: str) -> str:
    """Return the statement ``topic.name``. KeyError if there is none."""
    topic, _, short = name.partition(".")
    return statements(topic)[short]


def rows(cur: Cursor, name: str, /, **parameters: object) -> list[Any]:
    """Run a named statement and return its rows; a column is an attribute of a row."""
    cur.execute(statement(name), parameters)
    return cur.fetchall()


def run(cur: Cursor, name: str, /, **parameters: object) -> int:
    """Run a named statement and return how many rows it changed."""
    cur.execute(statement(name), parameters)
    return cur.rowcount
