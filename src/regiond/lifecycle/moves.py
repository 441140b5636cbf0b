"""Every legal move of a node's life that a client can ask for."""

from collections.abc import Callable, Mapping
from typing import assert_never

from attrs import evolve

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
from switchgear.life import PASSING, Status, Verb
from switchgear.power import Power, Wish

#: The failed status of each passing one.
FAILED: Mapping[Status, Status] = {
    Status.DEPLOYING: Status.FAILED_DEPLOYING,
    Status.RELEASING: Status.FAILED_RELEASING,
    Status.CLEANING: Status.FAILED_CLEANING,
}
#: From where a node can be released.
RELEASABLE = frozenset(
    {Status.ALLOCATED, Status.DEPLOYING, Status.DEPLOYED, Status.BROKEN, *FAILED.values()}
)
#: What the power-off or power-on in flight of a passing status must not be crossed by.
_CROSSING = {(Status.DEPLOYING, Wish.OFF), (Status.RELEASING, Wish.ON), (Status.CLEANING, Wish.ON)}


def decide(wanted: Wanted, facts: Facts) -> Decision:
    """Say what a request means for one node, given what is known of it."""
    match wanted.verb:
        case Verb.ON:
            return _power(Wish.ON, facts.life)
        case Verb.OFF:
            return _power(Wish.OFF, facts.life)
        case Verb.QUERY:
            return Operate(Wish.QUERY)
        case Verb.ACCEPT | Verb.ALLOCATE | Verb.DEPLOY:
            return _USE[wanted.verb](wanted, facts.life)
        case Verb.RELEASE:
            return _release(facts.life)
        case Verb.MARK_BROKEN:
            return _mark_broken(wanted, facts.life)
        case Verb.MARK_FIXED:
            return _mark_fixed(facts)
        case _ as never:
            assert_never(never)


def _power(wish: Wish, life: Life) -> Decision:
    if (life.status, wish) in _CROSSING:
        return Refused(f"is {life.status}; power it {wish} when that has ended")
    return Operate(wish)


def _accept(_: Wanted, life: Life) -> Decision:
    match life.status:
        case Status.NEW:
            return Operate(Wish.QUERY)
        case Status.READY:
            return Done()
        case _:
            return Refused(f"is {life.status}; only a new node can be accepted")


def _allocate(wanted: Wanted, life: Life) -> Decision:
    if life.status is not Status.READY:
        holder = f" by {life.owner}" if life.owner else ""
        return Refused(f"is {life.status}{holder}; only a ready node can be allocated")
    return Move(Life(status=Status.ALLOCATED, owner=wanted.owner))


def _deploy(_: Wanted, life: Life) -> Decision:
    match life.status:
        case Status.ALLOCATED | Status.FAILED_DEPLOYING:
            return Move(evolve(life, status=Status.DEPLOYING, reason=None), Wish.ON)
        case Status.DEPLOYING:
            return Follow()
        case Status.DEPLOYED:
            return Done()
        case _:
            return Refused(f"is {life.status}; only an allocated node can be deployed")


_USE: Mapping[Verb, Callable[[Wanted, Life], Decision]] = {
    Verb.ACCEPT: _accept,
    Verb.ALLOCATE: _allocate,
    Verb.DEPLOY: _deploy,
}


def _release(life: Life) -> Decision:
    match life.status:
        case Status.READY:
            return Done()
        case Status.RELEASING | Status.CLEANING:
            return Follow()
        case status if status in RELEASABLE:
            return Move(Life(status=Status.RELEASING, owner=life.owner), Wish.OFF)
        case _:
            return Refused(f"is {life.status}; there is nothing to release")


def _mark_broken(wanted: Wanted, life: Life) -> Decision:
    wish = Wish.OFF if wanted.power_off else None
    if life.status is Status.BROKEN:
        return Operate(Wish.OFF) if wish else Done()
    broken = Life(
        status=Status.BROKEN, before=life.status, owner=life.owner, reason=wanted.reason or None
    )
    return Move(broken, wish)


def _mark_fixed(facts: Facts) -> Decision:
    life = facts.life
    if life.status is not Status.BROKEN:
        return Refused(f"is {life.status}, not broken")
    before = life.before or Status.NEW
    if before is Status.READY and facts.power is Power.ON:
        return Refused("is on, and was ready before it was marked broken; power it off first")
    if before in PASSING:
        reason = f"was {before} when it was marked broken"
        return Move(Life(status=FAILED[before], owner=life.owner, reason=reason))
    return Move(Life(status=before, owner=life.owner))
