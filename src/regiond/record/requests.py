"""How far requests and operations are."""

from typing import Any

from regiond.record.faults import fault_of
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.errors import BadRequest, NoSuchThing
from switchgear.life import Status, Verb
from switchgear.operation import OperationId, Outcome, State
from switchgear.power import Power, Wish
from switchgear.wire.client import ItemView, OperationView, RequestView


def show_request(cur: Cursor, request: str) -> RequestView:
    """Return a request with its counts. Raises BadRequest (no id) or NoSuchThing."""
    row = _one(cur, "requests.request", "request", request)
    return RequestView(
        request=row.request,
        verb=Verb(row.verb),
        requested_by=row.client,
        nodes=row.nodes,
        running=row.running,
        succeeded=row.succeeded,
        failed=row.failed,
        refused=row.refused,
    )


def list_items(cur: Cursor, request: str, after: str, limit: int) -> list[ItemView]:
    """Return at most `limit` nodes of a request by name, after `after`. BadRequest, NoSuchThing."""
    _one(cur, "requests.request", "request", request)
    number = OperationId.parse(request).number
    return [
        _item(row) for row in rows(cur, "requests.items", number=number, after=after, limit=limit)
    ]


def show_operation(cur: Cursor, operation: str) -> OperationView:
    """Return one operation by its id ("1.4711"). Raises BadRequest (no id) or NoSuchThing."""
    row = _one(cur, "requests.operation", "operation", operation)
    return OperationView(
        operation=row.operation,
        node=row.node,
        chassis=row.chassis,
        wish=Wish(row.wish),
        state=State(row.state),
        requested_by=row.requested_by,
        age=row.age,
        outcome=_outcome(row.outcome),
        changed=row.changed,
        power=Power(row.power),
        fault=fault_of(row.fault_kind, row.fault_text),
        commands=row.commands,
        place=row.place,
        wait=row.wait,
    )


def prune(cur: Cursor, days: float = 90.0, limit: int = 10_000) -> int:
    """Delete at most `limit` requests, and as many operations, that ended `days` ago; return how many."""
    age = days * 86_400
    (row,) = rows(cur, "requests.prune", seconds=age, limit=limit)
    return int(row.pruned) + run(cur, "requests.prune_operations", seconds=age, limit=limit)


def _one(cur: Cursor, statement: str, kind: str, text: str) -> Any:
    try:
        wanted = OperationId.parse(text)
    except ValueError:
        raise BadRequest(f"{text[:40]!r} is no id of a {kind}; one looks like 1.4711") from None
    if max(wanted.number, wanted.generation) >= 2**63:
        raise NoSuchThing(f"there is no {kind} {text[:40]}")
    found = rows(cur, statement, number=wanted.number, generation=wanted.generation)
    if not found:
        raise NoSuchThing(f"there is no {kind} {text[:40]}")
    return found[0]


def _item(row: Any) -> ItemView:
    return ItemView(
        node=row.node,
        operation=row.operation,
        outcome=_outcome(row.outcome),
        refused=row.refused,
        changed=row.changed,
        status=None if row.status is None else Status(row.status),
        power=Power(row.power),
        fault=fault_of(row.fault_kind, row.fault_text),
    )


def _outcome(text: str | None) -> Outcome | None:
    return None if text is None else Outcome(text)
