"""Rows of life, changed only from the status that the decision was made on."""

import json
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from regiond.lifecycle.values import Life
from regiond.record.feed import Event, write
from regiond.store.cursor import Cursor
from regiond.store.named import rows
from switchgear.life import Status


@frozen(kw_only=True)
class Moved:
    """A decided move. `operation` is the number of the one whose end will move the status on."""

    node: str
    was: Status
    life: Life
    operation: int | None = None


def lock(cur: Cursor, names: Sequence[str]) -> None:
    """Lock the lives of nodes, always in one order; what is read afterwards does not change."""
    rows(cur, "lives.lock", names=sorted(names))


def move(cur: Cursor, moves: Sequence[Moved]) -> None:
    """Write the moves down, each with its event; one that came too late is left out."""
    if not moves:
        return
    plain = [
        {
            "node": moved.node,
            "was": moved.was,
            "status": moved.life.status,
            "before": moved.life.before,
            "owner": moved.life.owner,
            "reason": moved.life.reason,
            "operation": moved.operation,
        }
        for moved in moves
    ]
    done = rows(cur, "lives.move", moves=json.dumps(plain))
    write(cur, [_event(row) for row in done])


def life_of(row: Any) -> Life:
    """Return the life that a row has in its columns status, status_before, owner and reason."""
    return Life(
        status=Status(row.status),
        before=None if row.status_before is None else Status(row.status_before),
        owner=row.owner,
        reason=row.reason,
    )


def _event(row: Any) -> Event:
    why = f" ({row.reason})" if row.reason else ""
    return Event(kind="status", text=f"{row.was} -> {row.status}{why}", node=row.node)
