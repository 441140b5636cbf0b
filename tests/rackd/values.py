"""Values that the rack's tests are made of."""

from switchgear.operation import Outcome
from switchgear.power import Power, Wish
from switchgear.secret import Secret
from switchgear.wire.rack import (
    Grant,
    Health,
    Order,
    Progress,
    Result,
    Seen,
    Sighting,
    Stage,
)


def grant(chassis="c1", *, epoch=1, seconds=55.0, credentials=1, driver="memory", **settings):
    """A lease of a chassis in memory."""
    return Grant(
        chassis=chassis,
        epoch=epoch,
        seconds=seconds,
        driver=driver,
        settings={"chassis": chassis, **settings},
        secrets={"password": Secret("memory")},
        credentials=credentials,
    )


def order(operation="1.1", slot="0", wish=Wish.OFF, node="n1"):
    """One operation of a person."""
    return Order(operation=operation, node=node, slot=slot, wish=wish)


def sighting(slot="0", read=1, power=Power.ON, chassis="c1", age=0.0):
    """One slot as a read showed it."""
    return Seen(
        sighting=Sighting(chassis=chassis, epoch=1, read=read, slot=slot, power=power, age=age)
    )


def progress(operation="1.1", place=1):
    """A place in the queue."""
    return Seen(progress=Progress(operation=operation, stage=Stage.WAITING, place=place))


def result(operation="1.1", chassis="c1"):
    """A success."""
    return Seen(
        result=Result(
            operation=operation,
            chassis=chassis,
            epoch=1,
            outcome=Outcome.SUCCEEDED,
            changed=True,
            power=Power.OFF,
            commands=1,
        )
    )


def health(number=1, chassis="c1", fault=None):
    """Whether a chassis answers."""
    return Seen(health=Health(chassis=chassis, epoch=1, number=number, fault=fault))
