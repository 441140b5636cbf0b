"""Discovery: a chassis is read once, and the slots that no node has are enrolled as `new`."""

import json
import re
from collections.abc import Sequence
from secrets import token_hex

from attrs import frozen

from regiond.record.faults import columns, fault_of
from regiond.record.nodes import enrol
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.errors import NoSuchThing
from switchgear.power import Fault
from switchgear.wire.client import DiscoveryView
from switchgear.wire.rack import FoundSlot

#: Seconds that a discovery may take: a slow chassis needs 35 for an answer, behind other work.
LIMIT = 300.0


@frozen(kw_only=True)
class Errand:
    """A discovery to be sent to the rack that holds the chassis."""

    ticket: str
    chassis: str
    epoch: int
    rack: str


def start(cur: Cursor, chassis: str) -> str:
    """Note a discovery and return its ticket; one that still runs is joined. Raises NoSuchThing."""
    begun = rows(cur, "discovery.start", ticket=token_hex(8), chassis=chassis)
    begun = begun or rows(cur, "discovery.running", chassis=chassis)
    if not begun:
        raise NoSuchThing(f"there is no chassis {chassis[:100]}")
    return str(begun[0].ticket)


def show(cur: Cursor, ticket: str) -> DiscoveryView:
    """Return how far a discovery is. Raises NoSuchThing."""
    found = rows(cur, "discovery.show", ticket=ticket)
    if not found:
        raise NoSuchThing(f"there is no discovery {ticket[:40]}")
    (row,) = found
    return DiscoveryView(
        ticket=row.ticket,
        chassis=row.chassis,
        ended=row.ended,
        found=row.found,
        enrolled=row.enrolled,
        fault=fault_of(row.fault_kind, row.fault_text),
    )


def waiting(cur: Cursor, racks: Sequence[tuple[str, str]]) -> list[Errand]:
    """Take the discoveries to send now to the linked racks, given as (rack, incarnation).

    Each is marked as sent: it comes again if its answer does not come within a minute, or if another
    lease began. Call `unsent` if it could not be sent.
    """
    if not racks:
        return []
    linked = json.dumps([{"rack": rack, "incarnation": run_of_it} for rack, run_of_it in racks])
    return [
        Errand(ticket=row.ticket, chassis=row.chassis, epoch=row.epoch, rack=row.rack)
        for row in rows(cur, "discovery.take", racks=linked)
    ]


def unsent(cur: Cursor, ticket: str) -> None:
    """Let a discovery that could not be sent be taken again at once."""
    run(cur, "discovery.untake", ticket=ticket)


def found(
    cur: Cursor, ticket: str, slots: Sequence[FoundSlot], more: bool, fault: Fault | None
) -> None:
    """Enrol one page of slots; the last page, or a fault, ends the discovery. Twice is harmless."""
    opened = rows(cur, "discovery.open", ticket=ticket)
    if not opened:
        return
    chassis = opened[0].chassis
    listed = [one.slot for one in slots]
    added = enrol(cur, chassis, {slot: node_name(chassis, slot) for slot in listed})
    run(
        cur,
        "discovery.note",
        ticket=ticket,
        slots=listed,
        enrolled=len(added),
        ended=not more or fault is not None,
        **columns(fault),
    )


def node_name(chassis: str, slot: str) -> str:
    """Return what a discovered node is called: slot ``7/0`` of sm-1 is ``sm-1-7-0``."""
    return f"{chassis}-{re.sub(r'[^A-Za-z0-9_.]+', '-', slot).strip('-') or 'slot'}"


def expire(cur: Cursor, seconds: float = LIMIT) -> int:
    """End discoveries without an answer for `seconds`, with a reason; return how many."""
    return run(cur, "discovery.expire", seconds=seconds)
