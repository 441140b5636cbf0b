"""What a request does to each of its nodes, decided in values from what the record knows."""

from collections.abc import Sequence
from typing import Any, assert_never

from attrs import field, frozen

from regiond.lifecycle.moves import decide
from regiond.lifecycle.values import (
    Decision,
    Done,
    Facts,
    Follow,
    Life,
    Move,
    Operate,
    Refused,
    Wanted,
)
from regiond.record.faults import columns
from regiond.record.lives import Moved, life_of
from switchgear.operation import Outcome
from switchgear.power import ErrorClass, Fault, Power, Wish


@frozen(kw_only=True)
class Open:
    """An unfinished operation of a node. `sent`: a rack may have it already."""

    number: int
    wish: Wish
    sent: bool


@frozen(kw_only=True)
class Plan:
    """What is done with one node. `joins`: the unfinished operation of the same wish, if there is one.

    `following`: the operation that the status of the node waits for. `supersedes`: unfinished ones of
    the opposite wish.
    """

    node: str
    life: Life
    decision: Decision
    following: int | None = None
    joins: int | None = None
    supersedes: list[int] = field(factory=list)

    @property
    def wish(self) -> Wish | None:
        """Return what is asked of the node's power, if anything."""
        return self.decision.wish if isinstance(self.decision, Move | Operate) else None

    def moved(self, operation: int | None) -> Moved | None:
        """Return the move of the node's life, when `operation` is the one that was begun or joined."""
        if not isinstance(self.decision, Move):
            return None
        to = self.decision.life
        return Moved(node=self.node, was=self.life.status, life=to, operation=operation)

    def item(self, operation: int | None) -> dict[str, object]:
        """Return the row of the request for this node; without an outcome if it waits."""
        base: dict[str, object] = {"node": self.node, "refused": False, "operation": operation}
        match self.decision:
            case Refused(text):
                fault = columns(Fault(ErrorClass.REFUSED, text))
                return {**base, "refused": True, "outcome": Outcome.FAILED, **fault}
            case Done():
                status = self.life.status
                return base | {"outcome": Outcome.SUCCEEDED, "changed": False, "status": status}
            case Move(life, None):
                return base | {
                    "outcome": Outcome.SUCCEEDED,
                    "changed": True,
                    "status": life.status,
                }
            case Follow():
                return base | {"operation": self.following}
            case Move() | Operate():
                return base
            case _ as never:
                assert_never(never)


def plan(wanted: Wanted, row: Any, opened: Sequence[Open]) -> Plan:
    """Decide for one node, given its row of facts and its unfinished operations."""
    life = life_of(row)
    decision = decide(wanted, Facts(life=life, power=Power(row.seen)))
    wish = decision.wish if isinstance(decision, Move | Operate) else None
    same = next((one.number for one in opened if one.wish is wish), None)
    opposite = [one for one in opened if is_opposite(one.wish, wish)]
    if same is not None and any(one.sent and one.number > same for one in opposite):
        # Joining would be satisfied by a power change that another one, already on its way, undoes.
        decision = Refused("has two opposite power changes under way; ask again when they ended")
        return Plan(node=row.name, life=life, decision=decision)
    return Plan(
        node=row.name,
        life=life,
        decision=decision,
        following=row.operation,
        joins=same,
        supersedes=[one.number for one in opposite if not one.sent],
    )


def is_opposite(one: Wish, other: Wish | None) -> bool:
    """Tell whether two wishes exclude each other; a query excludes none."""
    return {one, other} == {Wish.ON, Wish.OFF}
