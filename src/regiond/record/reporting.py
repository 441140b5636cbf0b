"""What the racks saw and did, written down: sightings, progress, results and health."""

import json
from collections.abc import Sequence
from typing import Any

from regiond.record.batch import Batch, Row, sort
from regiond.record.ending import Ended, settle
from regiond.record.feed import Event, write
from regiond.record.releasing import ripe
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.wire.rack import Seen


def report(cur: Cursor, rack: str, incarnation: str, items: Sequence[Seen]) -> set[str]:
    """Write a report down. Returns the nodes whose release can be finished now (`releasing.finish`).

    The same report twice is the same as once. Unknown operations and slots are left out. Statements:
    a constant number.
    """
    batch = sort(items)
    run(cur, "reporting.rack_seen", rack=rack, incarnation=incarnation)
    nodes: set[str] = set()
    if batch.sightings or batch.results:
        locked = rows(
            cur, "reporting.lock", sightings=json.dumps(batch.sightings), numbers=batch.numbers
        )
        nodes = {row.node for row in locked}
    if batch.progress:
        run(cur, "reporting.progress", progress=json.dumps(batch.progress), rack=rack)
    seen = _sight(cur, batch)
    settle(cur, [*_results(cur, batch), *_seen_ends(cur, seen)])
    _health(cur, batch.health)
    return set(ripe(cur, sorted(nodes))) if nodes else set()


def _sight(cur: Cursor, batch: Batch) -> list[str]:
    """Write down what was seen, if it is newer; return the nodes of which it was."""
    if not batch.sightings:
        return []
    done = rows(cur, "reporting.sight", sightings=json.dumps(batch.sightings))
    write(
        cur,
        [
            Event(kind="power", text=f"{r.before} -> {r.seen}", node=r.node, chassis=r.chassis)
            for r in done
            if r.before != r.seen
        ],
    )
    return [row.node for row in done]


def _results(cur: Cursor, batch: Batch) -> list[Ended]:
    """End the operations that have a result; a late one only completes what is known of its end."""
    if not batch.results:
        return []
    results = json.dumps(batch.results)
    run(cur, "reporting.complete", results=results)
    return [Ended.of(row) for row in rows(cur, "reporting.end", results=results)]


def _seen_ends(cur: Cursor, nodes: Sequence[str]) -> list[Ended]:
    """End the operations whose wish a newer read has shown, whoever made it."""
    if not nodes:
        return []
    return [Ended.of(row) for row in rows(cur, "reporting.end_by_sight", names=list(nodes))]


def _health(cur: Cursor, health: Sequence[Row]) -> None:
    if not health:
        return
    chassis = [str(one["chassis"]) for one in health]
    before = {r.name: r.fault_kind for r in rows(cur, "reporting.health_before", chassis=chassis)}
    changed = rows(cur, "reporting.health", health=json.dumps(health))
    events = [_health_event(row) for row in changed if before.get(row.chassis) != row.fault_kind]
    write(cur, events)


def _health_event(row: Any) -> Event:
    text = "answers again" if row.fault_kind is None else f"{row.fault_kind}: {row.fault_text}"
    return Event(kind="chassis", text=text, chassis=row.chassis)
