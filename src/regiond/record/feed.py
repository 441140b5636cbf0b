"""The feed of events: each is told once, in the order of commits, and none is left out.

A row's transaction id is taken before its commit, so a later one can become visible first. Only events
below the oldest transaction that still runs are told: nothing can appear before them any more.
"""

import json
from collections.abc import Sequence

from attrs import asdict, frozen

from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.errors import BadRequest
from switchgear.power import cut
from switchgear.wire.client import EventView


@frozen(kw_only=True)
class Event:
    """Something that happened, to be written down. `kind`: as in EventView."""

    kind: str
    text: str
    node: str | None = None
    chassis: str | None = None
    operation: str | None = None


def write(cur: Cursor, events: Sequence[Event]) -> None:
    """Write events down, in this order."""
    if events:
        plain = [{**asdict(event), "text": cut(event.text)} for event in events]
        run(cur, "feed.write", events=json.dumps(plain))


def start_cursor(cur: Cursor) -> str:
    """Return the cursor after everything that is certain to be told already."""
    return f"{int(present(cur)) - 1}.{2**62}"


def present(cur: Cursor) -> str:
    """Return the id of the oldest transaction that still runs, as text."""
    return str(rows(cur, "feed.now")[0].tx)


def events_after(cur: Cursor, cursor: str, limit: int) -> tuple[list[EventView], str]:
    """Return at most `limit` events after `cursor`, oldest first, and the next cursor. BadRequest."""
    tx, _, number = cursor.partition(".")
    if not (tx.isascii() and tx.isdigit() and number.isascii() and number.isdigit()):
        raise BadRequest(f"{cursor[:40]!r} is no cursor of an event")
    found = [
        EventView(
            cursor=f"{row.tx}.{row.id}",
            at=row.at,
            kind=row.kind,
            text=row.text,
            node=row.node,
            chassis=row.chassis,
            operation=row.operation,
        )
        for row in rows(cur, "feed.after", tx=tx, id=number, limit=limit)
    ]
    return found, found[-1].cursor if found else cursor


def prune(cur: Cursor, days: float = 30.0, keep: int = 200_000, limit: int = 10_000) -> int:
    """Delete at most `limit` events older than `days` or beyond the newest `keep`; return how many."""
    return run(cur, "feed.prune", seconds=days * 86_400, keep=keep, limit=limit)
