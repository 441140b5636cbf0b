"""The nodes of the record: which there are, how they are named, and how they are now."""

import json
import re
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Any

from regiond.record.faults import fault_of
from regiond.record.feed import Event, present, write
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear import nodeset
from switchgear.errors import BadRequest, Conflict, NoSuchThing
from switchgear.life import Status
from switchgear.nodeset import Group
from switchgear.power import Power
from switchgear.wire.client import NodeView

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")


def check_name(what: str, name: str) -> None:
    """Raise BadRequest if `name` can't be the name of a node, chassis or owner."""
    if not _NAME.fullmatch(name):
        raise BadRequest(
            f"{what}: {name[:40]!r} is no name; it has up to 100 letters, digits, '.', '_' and '-'"
            " and begins with a letter or digit"
        )


def members(cur: Cursor, groups: Iterable[Group]) -> dict[Group, list[str]]:
    """Return the names of the nodes in each group; an unknown chassis or owner has none."""
    found: dict[Group, list[str]] = {group: [] for group in groups}
    if found:
        asked = json.dumps([{"kind": kind, "name": name} for kind, name in found])
        for row in rows(cur, "nodes.members", groups=asked):
            found[row.kind, row.of].append(row.name)
    return found


def names(cur: Cursor, expression: str) -> list[str]:
    """Resolve a node set, "" meaning all. Raises BadRequest, or NoSuchThing that names unknown ones."""
    if not expression.strip():
        all_nodes: Group = ("all", "*")
        return members(cur, [all_nodes])[all_nodes]
    groups = nodeset.groups(expression)
    _check_groups(cur, groups)
    found = nodeset.expand(expression, members(cur, groups))
    unknown = [row.name for row in rows(cur, "nodes.unknown", names=found)]
    if unknown:
        more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
        raise NoSuchThing(f"there is no node {', '.join(unknown[:10])}{more}")
    return found


def _check_groups(cur: Cursor, groups: Iterable[Group]) -> None:
    """Refuse a group whose chassis or status does not exist; an owner may well have no node."""
    for kind, name in groups:
        if kind == "status" and name not in list(Status):
            raise BadRequest(f"there is no status {name[:40]!r}; there are {', '.join(Status)}")
    chassis = [name for kind, name in groups if kind == "chassis"]
    if chassis:
        unknown = [row.name for row in rows(cur, "nodes.unknown_chassis", names=chassis)]
        if unknown:
            raise NoSuchThing(f"there is no chassis {', '.join(unknown[:10])}")


def list_nodes(cur: Cursor, names: Sequence[str] | None, after: str, limit: int) -> list[NodeView]:
    """Return at most `limit` of the named nodes (None: of all), by name, after the name `after`."""
    asked = None if names is None else list(names)
    return [_view(row) for row in rows(cur, "nodes.views", names=asked, after=after, limit=limit)]


def add_node(cur: Cursor, name: str, chassis: str, slot: str, addresses: Sequence[str]) -> None:
    """Enrol one node as `new`. Raises BadRequest, NoSuchThing (chassis), Conflict (name, slot, address)."""
    check_name("node", name)
    if not slot or len(slot) > 100:
        raise BadRequest("slot: has 1 to 100 characters")
    held = {_address(text) for text in addresses}
    if rows(cur, "nodes.unknown_chassis", names=[chassis]):
        raise NoSuchThing(f"there is no chassis {chassis[:100]}")
    if not enrol(cur, chassis, {slot: name}):
        raise Conflict(f"the name {name}, or slot {slot} of {chassis}, is taken")
    if held:
        got = {row.ip for row in rows(cur, "nodes.add_addresses", name=name, addresses=list(held))}
        if held - got:
            raise Conflict(f"another node holds {', '.join(sorted(held - got))}")


def enrol(cur: Cursor, chassis: str, slots: dict[str, str]) -> list[str]:
    """Add nodes, given as slot -> name, where slot and name are free; return the names added."""
    asked = [{"name": name, "chassis": chassis, "slot": slot} for slot, name in slots.items()]
    added = [row.name for row in rows(cur, "nodes.add", nodes=json.dumps(asked))]
    if added:
        run(cur, "nodes.add_power", names=added)
        run(cur, "nodes.add_life", names=added)
        write(cur, [Event(kind="status", text="new", node=n, chassis=chassis) for n in added])
    return added


def changed_nodes(cur: Cursor, cursor: str) -> tuple[list[NodeView], str]:
    """Return the nodes changed since `cursor`, and the next cursor. "" gives no node: only where to begin.

    To follow without a gap: take a cursor with "", then list all nodes, then ask with the cursor. A
    change may be told twice, and none is left out.
    """
    following = present(cur)
    if not cursor:
        return [], following
    if not (cursor.isascii() and cursor.isdigit()):
        raise BadRequest(f"{cursor[:40]!r} is no cursor of changes")
    changed = [row.node for row in rows(cur, "nodes.changed", tx=cursor)]
    return (list_nodes(cur, changed, "", len(changed)) if changed else []), following


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise BadRequest(f"address: {text[:60]!r} is no IP address") from None


def _view(row: Any) -> NodeView:
    return NodeView(
        name=row.name,
        chassis=row.chassis,
        slot=row.slot,
        status=Status(row.status),
        status_age=row.status_age,
        owner=row.owner,
        reason=row.reason,
        power=Power(row.power),
        wanted=None if row.wanted is None else Power(row.wanted),
        seen_age=row.seen_age,
        fault=fault_of(row.fault_kind, row.fault_text),
        operation=row.operation,
        addresses=list(row.addresses),
    )
