"""What the page is told: steps inside one transaction that return JSON, or frames, ready to be sent.

They run in a thread of the pool, so writing the JSON of thousands of nodes does not hold up the reactor.
"""

from collections.abc import Sequence

from attrs import evolve, field, frozen

from regiond.record import asking, chassis, feed, leasing, nodes, requests
from regiond.store.cursor import Cursor
from regiond.web.framing import Mark, frame
from switchgear import nodeset
from switchgear.wire.arguments import to_json
from switchgear.wire.client import Ask, ChassisView, EventView, NodeView

#: Nodes, or items, of one page; nodes of one event of a stream; chassis that are told at all.
PAGE, CHUNK, CHASSIS = 500, 250, 1000
#: Events looked at for one change, and the newest of them that are told.
EVENTS, TOLD = 5000, 200
#: Kinds of events after which chassis are looked at again.
_OF_CHASSIS = frozenset({"chassis", "rack"})


@frozen(kw_only=True)
class Beginning:
    """Where a stream begins. `resumed`: the page has everything up to there already."""

    mark: Mark
    resumed: bool


@frozen(kw_only=True)
class Change:
    """What to send to streams that stood at one mark, and where they stand then."""

    mark: Mark
    frames: list[bytes] = field(repr=False)
    of_chassis: bool


@frozen
class Part:
    """One part of a snapshot, and the name after which the next begins (None: this was the last)."""

    frame: bytes = field(repr=False)
    after: str | None


def begin(cur: Cursor, last: str) -> Beginning:
    """Return where a stream begins for a page that has seen the event `last` ("" for none)."""
    generation = leasing.generation(cur)
    _, now = nodes.changed_nodes(cur, "")
    mark = Mark.parse(last)
    if mark is not None and mark.generation == generation and int(mark.cursor) <= int(now):
        return Beginning(mark=mark, resumed=True)
    return Beginning(mark=Mark(generation, now), resumed=False)


def snapshot(cur: Cursor, mark: Mark, after: str) -> Part:
    """Return a part of all nodes. Only the last has the mark: a page cut before it begins anew."""
    found = nodes.list_nodes(cur, None, after, CHUNK)
    last = len(found) < CHUNK
    data = to_json({"first": not after, "last": last, "nodes": found})
    return Part(frame("snapshot", data, mark if last else None), None if last else found[-1].name)


def changes(cur: Cursor, mark: Mark) -> Change:
    """Return what changed since a mark. A change may be told twice, and none is left out."""
    changed, cursor = nodes.changed_nodes(cur, mark.cursor)
    events = [
        event
        for event in feed.events_after(cur, f"{int(mark.cursor) - 1}.{2**62}", EVENTS)[0]
        if int(event.cursor.partition(".")[0]) < int(cursor)
    ]
    following = evolve(mark, cursor=cursor)
    return Change(
        mark=following,
        frames=_frames(changed, events[-TOLD:], following),
        of_chassis=any(event.kind in _OF_CHASSIS for event in events),
    )


def health(cur: Cursor) -> list[ChassisView]:
    """Return the chassis and how they are."""
    return chassis.list_chassis(cur, "", "", CHASSIS)


def health_frame(views: Sequence[ChassisView]) -> bytes:
    """Write the chassis as an event; of their settings nothing."""
    told = [
        {
            "name": one.name,
            "nodes": one.nodes,
            "rack": one.rack,
            "fault": one.fault,
            "fault_age": one.fault_age,
        }
        for one in views
    ]
    return frame("chassis", to_json({"chassis": told}))


def nodes_page(cur: Cursor, after: str) -> bytes:
    """Return a page of nodes, after a name."""
    found = nodes.list_nodes(cur, None, after, PAGE)
    return to_json({"nodes": found, "more": len(found) == PAGE})


def chassis_page(cur: Cursor, after: str) -> bytes:
    """Return a page of chassis, after a name."""
    found = chassis.list_chassis(cur, "", after, PAGE)
    return to_json({"chassis": found, "more": len(found) == PAGE})


def items_page(cur: Cursor, request: str, after: str) -> bytes:
    """Return how far a request is, and a page of its items. Raises BadRequest, NoSuchThing."""
    view = requests.show_request(cur, request)
    found = requests.list_items(cur, request, after, PAGE)
    return to_json({"request": view, "items": found, "more": len(found) == PAGE})


def request_page(cur: Cursor, request: str) -> bytes:
    """Return how far a request is. Raises BadRequest, NoSuchThing."""
    return to_json({"request": requests.show_request(cur, request)})


def asked(cur: Cursor, client: str, ask: Ask, names: Sequence[str]) -> bytes:
    """Ask for `ask.nodes`, or for the nodes named one by one; return the answer."""
    for name in names:
        nodes.check_name("nodes", name)
    wanted = evolve(ask, nodes=nodeset.fold(names)) if names else ask
    return to_json(asking.ask(cur, client, wanted))


def _frames(changed: Sequence[NodeView], events: Sequence[EventView], mark: Mark) -> list[bytes]:
    """Write the events of a change. Only the last has the mark: all of it was seen, or none."""
    parts = [
        ("nodes", to_json({"nodes": changed[start : start + CHUNK]}))
        for start in range(0, len(changed), CHUNK)
    ]
    if events:
        parts.append(("event", to_json({"events": events})))
    last = len(parts) - 1
    return [
        frame(name, data, mark if place == last else None)
        for place, (name, data) in enumerate(parts)
    ]
