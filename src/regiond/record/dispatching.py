"""Operations go to the racks: claimed by one region for a few seconds, sent, and noted as sent."""

import json
from collections.abc import Sequence
from typing import Any

from attrs import evolve, field, frozen

from regiond.record import lives
from regiond.record.ending import Ended, settle
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.operation import OperationId, Rank
from switchgear.power import Wish
from switchgear.wire.rack import Order

#: Seconds after which an operation fails if no rack holds its chassis.
NO_RACK_LIMIT = 120.0


@frozen(kw_only=True)
class Parcel:
    """Orders for one chassis, to be sent to the rack that holds `epoch`. `region_run`: who claimed them."""

    region_run: str
    chassis: str
    epoch: int
    rack: str
    incarnation: str
    credentials: int
    orders: list[Order] = field(factory=list)


def claim(
    cur: Cursor, region_run: str, racks: Sequence[tuple[str, str]], limit: int
) -> list[Parcel]:
    """Claim at most `limit` operations to send to the linked racks, given as (rack, incarnation).

    A claim ends by itself after 10 s. An operation that was sent under an earlier epoch comes again.
    """
    if not racks:
        return []
    linked = json.dumps([{"rack": rack, "incarnation": run_of_it} for rack, run_of_it in racks])
    claimed = rows(cur, "dispatching.claim", racks=linked, run=region_run, limit=limit)
    parcels: dict[str, Parcel] = {}
    for row in sorted(claimed, key=lambda row: row.number):
        parcel = parcels.get(row.chassis) or _parcel(region_run, row)
        parcels[row.chassis] = evolve(parcel, orders=[*parcel.orders, _order(row)])
    return list(parcels.values())


def sent(cur: Cursor, parcel: Parcel, read_mark: int) -> None:
    """Note that the rack has the orders of a parcel, and from which read on they can be settled."""
    run(
        cur,
        "dispatching.sent",
        run=parcel.region_run,
        epoch=parcel.epoch,
        read_mark=read_mark,
        numbers=_numbers(parcel),
    )


def unsent(cur: Cursor, parcel: Parcel) -> None:
    """Give up the claims of a parcel that could not be sent."""
    run(cur, "dispatching.unsent", run=parcel.region_run, numbers=_numbers(parcel))


def clear_claims(cur: Cursor, region_run: str) -> None:
    """Give up every claim of this run of a region."""
    run(cur, "dispatching.clear", run=region_run)


def expire(cur: Cursor, seconds: float = NO_RACK_LIMIT) -> int:
    """Fail operations that no rack could be asked to do for `seconds`; return how many."""
    nodes = sorted({row.node for row in rows(cur, "dispatching.orphans", seconds=seconds)})
    if not nodes:
        return 0
    lives.lock(cur, nodes)
    ended = rows(cur, "dispatching.expire", names=nodes, seconds=seconds)
    settle(cur, [Ended.of(row) for row in ended])
    return len(ended)


def _numbers(parcel: Parcel) -> list[int]:
    return [OperationId.parse(order.operation).number for order in parcel.orders]


def _parcel(region_run: str, row: Any) -> Parcel:
    return Parcel(
        region_run=region_run,
        chassis=row.chassis,
        epoch=row.epoch,
        rack=row.rack,
        incarnation=row.incarnation,
        credentials=row.credentials,
    )


def _order(row: Any) -> Order:
    return Order(
        operation=f"{row.generation}.{row.number}",
        node=row.node,
        slot=row.slot,
        wish=Wish(row.wish),
        rank=Rank(row.rank),
        unsure_for=row.unsure_for,
    )
