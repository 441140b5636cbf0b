"""A client asks for a verb on many nodes: one transaction, however many."""

import json
from collections.abc import Mapping, Sequence

from regiond.lifecycle.values import Move, Refused, Wanted
from regiond.record import lives
from regiond.record.ending import supersede
from regiond.record.feed import Event, write
from regiond.record.nodes import check_name, names
from regiond.record.planning import Open, Plan, plan
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.errors import BadRequest, Conflict
from switchgear.life import Verb
from switchgear.power import TEXT_LIMIT, Wish
from switchgear.wire.client import Ask, AskAnswer

#: Longest key of a request, and longest name of a client.
KEY_LIMIT = 200


def ask(cur: Cursor, client: str, ask: Ask) -> AskAnswer:
    """Note the request, its moves and its operations, and return the id to follow.

    A key that this client has used returns the answer of then. Raises BadRequest, or NoSuchThing for a
    name that does not exist, before anything is done. Statements: a constant number.
    """
    wanted = _wanted(client, ask)
    if ask.dry_run:
        plans = _plans(cur, wanted, names(cur, ask.nodes))
        return AskAnswer(request="", nodes=len(plans), refused=_refusals(plans))
    begun = rows(
        cur, "asking.begin", client=client, key=ask.key, verb=ask.verb, expression=ask.nodes
    )
    if not begun:
        return _earlier(cur, client, ask)
    number = begun[0].number
    plans = _plans(cur, wanted, names(cur, ask.nodes))
    _carry_out(cur, client, ask, number, plans)
    return AskAnswer(
        request=f"{begun[0].generation}.{number}", nodes=len(plans), refused=_refusals(plans)
    )


def _wanted(client: str, ask: Ask) -> Wanted:
    """Check what can be checked without the record."""
    owner = ask.owner if ask.owner is not None else client
    if ask.verb is Verb.ALLOCATE:
        check_name("owner", owner)
    if not ask.nodes.strip():
        raise BadRequest("nodes: name some, or @all")
    if len(ask.reason or "") > TEXT_LIMIT:
        raise BadRequest(f"reason: has more than {TEXT_LIMIT} characters")
    if len(ask.key) > KEY_LIMIT or len(client) > KEY_LIMIT:
        raise BadRequest(f"key: has more than {KEY_LIMIT} characters")
    if "\0" in client + ask.key + (ask.reason or ""):
        raise BadRequest("a text has a NUL character in it")
    return Wanted(verb=ask.verb, owner=owner, reason=ask.reason, power_off=ask.power_off)


def _earlier(cur: Cursor, client: str, ask: Ask) -> AskAnswer:
    (row,) = rows(cur, "asking.earlier", client=client, key=ask.key)
    if (row.verb, row.expression) != (ask.verb, ask.nodes):
        raise Conflict(f"the key {ask.key[:40]!r} belongs to another request of {client}")
    request = f"{row.generation}.{row.number}"
    return AskAnswer(request=request, nodes=row.nodes, refused=row.refused)


def _plans(cur: Cursor, wanted: Wanted, nodes: Sequence[str]) -> list[Plan]:
    """Lock the nodes, and decide for each from what is true then."""
    lives.lock(cur, nodes)
    opened: dict[str, list[Open]] = {}
    for row in rows(cur, "asking.open_operations", names=list(nodes)):
        one = Open(number=row.number, wish=Wish(row.wish), sent=row.sent)
        opened.setdefault(row.node, []).append(one)
    facts = rows(cur, "asking.facts", names=list(nodes))
    return [plan(wanted, row, opened.get(row.name, ())) for row in facts]


def _refusals(plans: Sequence[Plan]) -> int:
    return sum(isinstance(one.decision, Refused) for one in plans)


def _carry_out(cur: Cursor, client: str, ask: Ask, request: int, plans: Sequence[Plan]) -> None:
    what = f"{client} asked for {ask.verb} of {ask.nodes}"
    write(cur, [Event(kind="request", text=what)])
    operations = _operations(cur, client, plans)
    moves = [one.moved(operations.get(one.node)) for one in plans]
    lives.move(cur, [move for move in moves if move is not None])
    supersede(cur, [n for one in plans for n in one.supersedes], f"superseded: {what}")
    moving = [one.node for one in plans if isinstance(one.decision, Move)]
    if moving:
        run(cur, "asking.supersede_items", names=moving, text=f"superseded: {what}")
        if ask.verb is Verb.DEPLOY:
            _hold_addresses(cur, moving)
    items = [one.item(operations.get(one.node)) for one in plans]
    run(cur, "asking.items", request=request, verb=ask.verb, items=json.dumps(items))
    run(cur, "asking.count", request=request, nodes=len(plans), refused=_refusals(plans))


def _operations(cur: Cursor, client: str, plans: Sequence[Plan]) -> Mapping[str, int]:
    """Begin the operations that are needed; return each node's, begun or joined."""
    wishes = [(one, one.wish) for one in plans if one.wish is not None]
    found = {one.node: one.joins for one, _ in wishes if one.joins is not None}
    new = [{"node": one.node, "wish": wish} for one, wish in wishes if one.joins is None]
    if new:
        begun = rows(cur, "asking.operations", operations=json.dumps(new), client=client)
        found |= {row.node: row.number for row in begun}
    if wishes:
        plain = [{"node": one.node, "wish": wish} for one, wish in wishes]
        run(cur, "asking.wanted", wishes=json.dumps(plain))
    return found


def _hold_addresses(cur: Cursor, nodes: Sequence[str]) -> None:
    """Give nodes back the static addresses that their last release freed, where nobody has them."""
    held = rows(cur, "asking.hold_addresses", names=list(nodes))
    events = [Event(kind="address", text=f"{row.ip} allocated", node=row.node) for row in held]
    write(cur, events)
