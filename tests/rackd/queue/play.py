"""Plays a chassis queue against a simulated chassis in fake time: hours pass in milliseconds."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

from attrs import define, field

from drivers.interfaces import Fate, Limits
from rackd.queue import (
    Accepted,
    Action,
    Answered,
    Broke,
    ChassisQueue,
    CloseSession,
    Found,
    Outcome,
    StartCommand,
    StartRead,
    Tell,
)
from switchgear.power import ErrorClass, Fault, Power, Wish
from switchgear.wire.rack import Order, Result, Seen
from switchgear_sim.sm15k.chassis import Reply, SimulatedChassis
from switchgear_sim.sm15k.knobs import Knobs
from switchgear_sim.sm15k.model import Model

#: What the demo sets for its chassis.
DEMO = Limits(parallel=1, call=40.0, action=300.0, effect=3.2, usual_effect=3.0)
QUIET = Knobs(drop_rate=0, error_rate=0, slow_rate=0)


@define
class Play:
    """One queue and one chassis. `heard`: all that was told, with its time."""

    knobs: Knobs = QUIET
    limits: Limits = DEMO
    seed: int = 1
    initial: bool = True
    now: float = 1000.0
    heard: list[tuple[float, Seen]] = field(factory=list)
    found: list[Found] = field(factory=list)
    closes: int = 0
    calls: list[StartRead | StartCommand] = field(factory=list)
    open: bool = False
    login: int = 1
    renamed: dict[str, str] = field(factory=dict)
    _pending: tuple[float, Callable[[], None]] | None = None
    chassis: SimulatedChassis = field(init=False)
    queue: ChassisQueue = field(init=False)

    def __attrs_post_init__(self) -> None:
        model = Model.of(self.knobs.servers, self.initial)
        self.chassis = SimulatedChassis(self.knobs, Random(self.seed), model)
        self.start_rack(epoch=1)

    def start_rack(self, epoch: int, until: float = 1e9) -> None:
        """Start the rack (again): a new queue with a new lease."""
        self._pending = None
        self.queue = ChassisQueue(chassis="sm-1", limits=self.limits, chance=Random(7).random)
        self.do(self.queue.lease(self.now, epoch=epoch, until=until, credentials=1))

    def order(self, *slots: str, wish: Wish = Wish.OFF, prefix: str = "", **known: Any) -> None:
        """Submit an order for each slot; its operation is named after slot and wish."""
        orders = [
            Order(
                operation=f"{prefix}{wish}-{slot}", node=f"n-{slot}", slot=slot, wish=wish, **known
            )
            for slot in slots
        ]
        self.do(self.queue.submit(self.now, orders))

    def do(self, actions: list[Action]) -> None:
        """Carry out what the queue wants."""
        for action in actions:
            match action:
                case Tell(seen):
                    self.heard.append((self.now, seen))
                case Found():
                    self.found.append(action)
                case CloseSession():
                    self.close()
                case StartRead() | StartCommand():
                    assert self._pending is None, "two calls at once"
                    self.calls.append(action)
                    self._call(action)

    def close(self) -> None:
        self.closes += 1
        self.open = False
        self.chassis.sessions.closed(self.login)
        self.login += 1

    def _call(self, action: StartRead | StartCommand) -> None:
        login = f"username=admin&password={self.knobs.password}"
        method, path = "GET", f"/v2.0/servers?{login}"
        if isinstance(action, StartCommand):
            what = "power-off&force=true" if action.wish is Wish.OFF else "power-on"
            slot = self.renamed.get(action.slot, action.slot)
            method, path = "PUT", f"/v2.0/servers/{slot}?action={what}&{login}"
        self.open = True
        begun = self.chassis.begin(self.now, self.login, method, path, b"")
        if isinstance(begun, Reply):
            self._pending = (self.now, lambda: self._over(action, begun))
            return
        execution = begun

        def finish() -> None:
            self._over(action, self.chassis.finish(self.now, execution))

        self._pending = (self.now + execution.service, finish)

    def _over(self, action: StartRead | StartCommand, reply: Reply) -> None:
        self._pending = None
        outcome = self._outcome(action, reply)
        self.do(self.queue.ended(self.now, action.call, outcome))

    def _outcome(self, action: StartRead | StartCommand, reply: Reply) -> Outcome:
        match reply.status:
            case None | 500:
                return Broke(Fault(ErrorClass.CONNECTION, "lost"), Fate.UNKNOWN)
            case 503:
                return Broke(Fault(ErrorClass.BUSY, "busy"), Fate.NOT_ACCEPTED)
            case 401:
                return Broke(Fault(ErrorClass.AUTH, "refused"), Fate.NOT_ACCEPTED)
            case 404:
                return Broke(Fault(ErrorClass.SETTINGS, "no such server"), Fate.NOT_ACCEPTED)
        if isinstance(action, StartCommand):
            return Accepted()
        servers = json.loads(reply.body)
        return Answered({s: Power.ON if v["active"] else Power.OFF for s, v in servers.items()})

    def run(self, seconds: float = 3600.0, until: Callable[[], bool] = lambda: False) -> None:
        """Let time pass, until nothing is left to do."""
        end = self.now + seconds
        while not until():
            times = [self._pending[0]] if self._pending else []
            times += [self.queue.wake_at] if self.queue.wake_at is not None else []
            if not times or min(times) > end:
                self.now = end
                return
            self.now = max(self.now, min(times))
            if self._pending is not None and self._pending[0] <= self.now:
                self._pending[1]()
            else:
                self.do(self.queue.tick(self.now))

    @property
    def results(self) -> dict[str, Result]:
        """Return the results told, by operation."""
        return {s.result.operation: s.result for _, s in self.heard if s.result is not None}

    def result(self, slot: str, wish: Wish = Wish.OFF) -> Result:
        """Return the result of the order for a slot."""
        return self.results[f"{wish}-{slot}"]

    def ended_at(self, operation: str) -> float:
        """Return when the result of an operation was told first."""
        return next(
            at for at, s in self.heard if s.result is not None and s.result.operation == operation
        )

    def figures(self) -> dict[str, Any]:
        """Return the chassis' own figures."""
        return self.chassis.figures(self.now)


def all_slots(count: int = 64) -> list[str]:
    """Name every slot of a chassis."""
    return [f"{number}/0" for number in range(count)]
