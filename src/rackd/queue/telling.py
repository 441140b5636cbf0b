"""What the region is told, and nothing twice: sightings, progress, results, and the chassis' health."""

from collections import OrderedDict
from collections.abc import Mapping

from attrs import define, evolve, field

from rackd.queue.values import Action, Tell
from rackd.queue.work import Asked, Work
from switchgear.operation import Outcome
from switchgear.power import ErrorClass, Fault, Power
from switchgear.wire.rack import Health, Progress, Result, Seen, Sighting, Stage

#: Results that are kept, to be told again when an order arrives twice.
KEPT = 1000
#: A slot's unchanged power is told again after so many seconds, so that its age stays small.
FRESHEN = 20.0
#: Before the first word on a chassis' health in an epoch.
UNTOLD = "untold"


@define
class Teller:
    """Collects what is to be told in `out`, in the order in which it happened."""

    chassis: str
    out: list[Action] = field(factory=list)
    epoch: int = 0
    _told: dict[str, tuple[Power, float]] = field(factory=dict)
    _results: OrderedDict[str, Result] = field(factory=OrderedDict)
    _health: ErrorClass | str | None = UNTOLD
    _health_number: int = 0

    def new_epoch(self, epoch: int) -> None:
        """Begin a new lease: the region may not have what was told in the last one."""
        self.epoch = epoch
        self._told.clear()
        self._health = UNTOLD

    def sightings(
        self,
        powers: Mapping[str, Power],
        wanted: set[str],
        epoch: int,
        read: int,
        began: float,
        now: float,
    ) -> None:
        """Tell what a read showed: what is waited for, what changed, and what was last told long ago."""
        for slot, power in powers.items():
            told = self._told.get(slot)
            if slot in wanted or told is None or told[0] is not power or now - told[1] >= FRESHEN:
                self._told[slot] = (power, now)
                sighting = Sighting(
                    chassis=self.chassis,
                    epoch=epoch,
                    read=read,
                    slot=slot,
                    power=power,
                    age=max(0.0, now - began),
                )
                self.out.append(Tell(Seen(sighting=sighting)))

    def progress(
        self, asked: Asked, stage: Stage, place: int | None = None, wait: float | None = None
    ) -> None:
        """Tell how far an operation is."""
        progress = Progress(operation=asked.operation, stage=stage, place=place, wait=wait)
        self.out.append(Tell(Seen(progress=progress)))

    def result(
        self, work: Work, asked: Asked, outcome: Outcome, power: Power, fault: Fault | None = None
    ) -> None:
        """Tell how an operation ended, and keep it."""
        result = Result(
            operation=asked.operation,
            chassis=self.chassis,
            epoch=self.epoch,
            outcome=outcome,
            changed=outcome is Outcome.SUCCEEDED and work.commands > 0,
            power=power,
            fault=fault,
            commands=work.commands,
        )
        self._results[asked.operation] = result
        while len(self._results) > KEPT:
            self._results.popitem(last=False)
        self.out.append(Tell(Seen(result=result)))

    def again(self, operation: str) -> bool:
        """Tell a kept result once more; False if there is none."""
        result = self._results.get(operation)
        if result is None:
            return False
        self.out.append(Tell(Seen(result=evolve(result, epoch=self.epoch))))
        return True

    def health(self, fault: Fault | None) -> None:
        """Tell that the chassis can't be spoken to, or can again, if that is news."""
        kind = None if fault is None else fault.kind
        if self._health == kind:
            return
        self._health = kind
        self._health_number += 1
        health = Health(
            chassis=self.chassis, epoch=self.epoch, number=self._health_number, fault=fault
        )
        self.out.append(Tell(Seen(health=health)))

    def take(self) -> list[Action]:
        """Return what was collected, and begin anew."""
        out, self.out = self.out, []
        return out
