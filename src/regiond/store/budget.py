"""How many database connections a region may open, computed from what the server has."""

from attrs import frozen

from regiond.store.connecting import connect
from regiond.store.named import rows
from switchgear.errors import Conflict

#: Fewer connections than this are not enough to work with.
LEAST = 2


@frozen(kw_only=True)
class Room:
    """What the server allows: all connections, the reserved ones, and those that others use now."""

    most: int
    reserved: int
    others: int


def share(room: Room, *, regions: int = 1, wanted: int | None = None) -> int:
    """Return how many connections one of `regions` may open beside its one listener.

    Raises Conflict with the numbers when that is too few, or fewer than `wanted`.
    """
    free = room.most - room.reserved - room.others
    possible = free // regions - 1
    least = LEAST if wanted is None else wanted
    if possible < least:
        raise Conflict(
            f"the database has {room.most} connections, {room.reserved} are reserved and"
            f" {room.others} used by others: {free} for {regions} regions leaves each"
            f" {max(possible, 0)} beside its listener, but {least} are needed;"
            " raise max_connections or ask for fewer"
        )
    return possible if wanted is None else wanted


def budget(dsn: str, *, regions: int = 1, wanted: int | None = None) -> int:
    """Return how many connections this daemon may open, not counting its one listener; blocks.

    Computed from the server's limit, its reserved ones and what others use now. Raises TryAgain if the
    server is away, Conflict with numbers if there are too few (or fewer than `wanted`).
    """
    connection = connect(dsn)
    try:
        with connection.cursor() as cur:
            (row,) = rows(cur, "store.room")
    finally:
        connection.close()
    room = Room(most=row.most, reserved=row.reserved, others=row.others)
    return share(room, regions=regions, wanted=wanted)
