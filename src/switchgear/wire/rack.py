"""What regiond and rackd say to each other. A rack connects to every region and speaks first.

Neither side waits for slow work: `Dispatch` is answered when the orders are noted in the rack's memory,
`Report` when they are committed to the record. Both may arrive twice, late or out of order: operations
have ids, sightings are ordered by (epoch, read), leases by their epoch.
"""

from enum import StrEnum, unique
from typing import ClassVar

from attrs import frozen
from twisted.protocols import amp

from switchgear.operation import Outcome, Rank
from switchgear.power import Fault, Power, Wish
from switchgear.secret import Secret
from switchgear.wire.arguments import Json, fields
from switchgear.wire.errors import AMP_ERRORS

#: The version of this surface that this code speaks, and the oldest that it still understands.
RACK_VERSION = 1


@frozen(kw_only=True)
class Grant:
    """A lease of one chassis, with what the rack needs to speak to it.

    `seconds` counts from before the rack asked. `credentials` grows whenever settings or secrets changed.
    """

    chassis: str
    epoch: int
    seconds: float
    driver: str
    settings: dict[str, str]
    secrets: dict[str, Secret]
    credentials: int


@frozen(kw_only=True)
class Order:
    """One operation, as the rack gets it. `operation` is an OperationId as text.

    `limit`: seconds the action may take from when the chassis starts on it; None: the driver's own.
    `unsure_for`: seconds since another rack may last have sent a command to this slot; None: no other did.
    """

    operation: str
    node: str
    slot: str
    wish: Wish
    rank: Rank = Rank.PERSON
    limit: float | None = None
    unsure_for: float | None = None


@frozen(kw_only=True)
class Sighting:
    """What one read of a chassis showed of one slot. `age`: seconds since the read began, at sending."""

    chassis: str
    epoch: int
    read: int
    slot: str
    power: Power
    age: float


@unique
class Stage(StrEnum):
    """How far the rack is with an operation."""

    WAITING = "waiting"
    STARTED = "started"
    COMMANDED = "commanded"


@frozen(kw_only=True)
class Progress:
    """Where an operation is. `place` counts from 1; `wait` is the expected number of seconds to its start."""

    operation: str
    stage: Stage
    place: int | None = None
    wait: float | None = None


@frozen(kw_only=True)
class Result:
    """How an operation ended on the rack that held `epoch` of the chassis. `commands`: times it was sent."""

    operation: str
    chassis: str
    epoch: int
    outcome: Outcome
    changed: bool
    power: Power
    fault: Fault | None = None
    commands: int = 0


@frozen(kw_only=True)
class Health:
    """Whether a chassis can be spoken to, as a fact of its own. `fault` is None when it answers."""

    chassis: str
    epoch: int
    number: int
    fault: Fault | None = None


@frozen(kw_only=True)
class FoundSlot:
    """One server that a chassis named when it was read for `discover`."""

    slot: str
    power: Power


@frozen(kw_only=True)
class Seen:
    """One item of a report; exactly one of these is set, and the order of the items is the order of events."""

    sighting: Sighting | None = None
    progress: Progress | None = None
    result: Result | None = None
    health: Health | None = None


class HelloRack(amp.Command):
    """First message of a rack on a link. `incarnation` is new for every start of the daemon.

    `heir`: true when the rack holds its host's lock, so that leases of its earlier incarnations are free.
    """

    arguments: ClassVar = fields(version=int, name=str, incarnation=str, heir=bool)
    response: ClassVar = fields(version=int, region=str, generation=int)
    errors = AMP_ERRORS


class RenewLeases(amp.Command):
    """Renew this rack's leases and take free ones, for chassis named after `after`, a page at a time."""

    arguments: ClassVar = fields(after=str)
    response: ClassVar = fields(grants=list[Grant], more=bool)
    errors = AMP_ERRORS


class Report(amp.Command):
    """What the rack saw and did, oldest first. Answered when it is committed; sent again until then."""

    arguments: ClassVar = fields(items=list[Seen])
    response: ClassVar = fields()
    errors = AMP_ERRORS


class Dispatch(amp.Command):
    """Orders for one chassis, to the rack that holds `epoch`. StaleEpoch when it does not.

    `read_mark`: the number of the last read of this chassis that began before the receipt; only reads
    with a larger number can settle these orders. `credentials`: the number of the chassis' settings when
    the orders were made; a rack that has older ones asks for its grants before it takes the orders.
    """

    arguments: ClassVar = [
        *fields(chassis=str, epoch=int, orders=list[Order]),
        (b"credentials", Json(int, optional=True)),
    ]
    response: ClassVar = fields(read_mark=int)
    errors = AMP_ERRORS


class CancelOrders(amp.Command):
    """Cancel operations of a chassis, by id. Waiting ones end `cancelled` at once.

    One whose command was sent is watched until the command took effect, and then ends `cancelled`.
    """

    arguments: ClassVar = fields(chassis=str, operations=list[str])
    response: ClassVar = fields()
    errors = AMP_ERRORS


class Discover(amp.Command):
    """Ask for one fresh read of a whole chassis; its slots come as `Discovered` with the same `ticket`."""

    arguments: ClassVar = fields(chassis=str, epoch=int, ticket=str)
    response: ClassVar = fields()
    errors = AMP_ERRORS


class Discovered(amp.Command):
    """The slots of a chassis, a page at a time, or the fault that kept them from being read."""

    arguments: ClassVar = fields(ticket=str, slots=list[FoundSlot], more=bool, fault=Fault | None)
    response: ClassVar = fields()
    errors = AMP_ERRORS
