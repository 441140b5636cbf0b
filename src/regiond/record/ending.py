"""What follows when operations ended: their nodes' lives, their requests' items, faults and events."""

import json
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from regiond.lifecycle.ends import End, accept_problem, after
from regiond.record import lives
from regiond.record.faults import columns, fault_of
from regiond.record.feed import Event, write
from regiond.record.lives import Moved
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.operation import Outcome, Rank
from switchgear.power import Power, Wish


@frozen(kw_only=True)
class Ended:
    """An operation whose row was just given its outcome."""

    number: int
    generation: int
    node: str
    chassis: str
    rank: Rank
    changed: bool | None
    end: End

    @classmethod
    def of(cls, row: Any) -> "Ended":
        """Read the columns that every statement returns which ends operations."""
        return cls(
            number=row.number,
            generation=row.generation,
            node=row.node,
            chassis=row.chassis,
            rank=Rank(row.rank),
            changed=row.changed,
            end=End(
                wish=Wish(row.wish),
                outcome=Outcome(row.outcome),
                power=Power(row.power),
                fault=fault_of(row.fault_kind, row.fault_text),
            ),
        )


def settle(cur: Cursor, ended: Sequence[Ended]) -> None:
    """Move on what waited for these operations. The lives of their nodes must be locked."""
    if not ended:
        return
    _move_lives(cur, ended)
    run(cur, "ending.items", ends=json.dumps([_item(one) for one in ended]))
    run(cur, "ending.faults", ends=json.dumps([_fault(one) for one in _last_words(ended)]))
    write(cur, [_event(one) for one in ended if one.rank is Rank.PERSON])


def supersede(cur: Cursor, numbers: Sequence[int], text: str) -> None:
    """End those operations that no rack was asked to do yet, and what waited for them."""
    if numbers:
        done = rows(cur, "ending.supersede", numbers=list(numbers), text=text)
        settle(cur, [Ended.of(row) for row in done])


#: Outcomes that say something of the node, and not only of the request.
_TELLING = frozenset({Outcome.SUCCEEDED, Outcome.FAILED, Outcome.TIMED_OUT})


def _move_lives(cur: Cursor, ended: Sequence[Ended]) -> None:
    by_number = {one.number: one for one in ended}
    moves = []
    for row in rows(cur, "ending.lives", numbers=list(by_number)):
        one, life = by_number[row.number], lives.life_of(row)
        following = after(life, one.end, moves=row.moves, accepting=row.accepting)
        if following is not None:
            moves.append(Moved(node=one.node, was=life.status, life=following))
    lives.move(cur, moves)


def _last_words(ended: Sequence[Ended]) -> Sequence[Ended]:
    """Return one operation for each node: the last that tells something of it, or else any."""
    by_node: dict[str, Ended] = {}
    for one in sorted(ended, key=lambda one: (one.end.outcome in _TELLING, one.number)):
        by_node[one.node] = one
    return list(by_node.values())


def _fault(one: Ended) -> dict[str, object]:
    tells = one.end.outcome in _TELLING
    return {"node": one.node, "tells": tells, **columns(one.end.fault)}


def _item(one: Ended) -> dict[str, object]:
    """Return how the items that follow an operation end; those of `accept` look at its power, too."""
    end, problem = one.end, accept_problem(one.end)
    refused = end.outcome is Outcome.SUCCEEDED and problem is not None
    shown = columns(problem)
    return {
        "number": one.number,
        "outcome": end.outcome,
        "changed": one.changed,
        "power": end.power,
        **columns(end.fault),
        "accept_outcome": Outcome.FAILED if refused else end.outcome,
        "accept_kind": shown["fault_kind"],
        "accept_text": shown["fault_text"],
    }


def _event(one: Ended) -> Event:
    what = "check" if one.end.wish is Wish.QUERY else f"power {one.end.wish}"
    why = f" ({one.end.fault})" if one.end.fault is not None else ""
    return Event(
        kind="operation",
        text=f"{what} {one.end.outcome}{why}",
        node=one.node,
        chassis=one.chassis,
        operation=f"{one.generation}.{one.number}",
    )
