"""What a client and regiond say to each other. `switchgear.client` is the library that speaks it.

A client connects and says `HelloClient`; then every call is answered from the record or with one short
transaction, never by asking a chassis. Slow work is followed by its id or through `Subscribe`.
Lists are paged: a page says whether there is more, and the next one is asked for `after` the last.
"""

from typing import ClassVar

from attrs import field, frozen
from twisted.protocols import amp

from switchgear.life import Status, Verb
from switchgear.operation import Outcome, State
from switchgear.power import Fault, Power, Wish
from switchgear.secret import Secret
from switchgear.wire.arguments import fields
from switchgear.wire.errors import AMP_ERRORS

#: The version of this surface that this code speaks.
CLIENT_VERSION = 1


@frozen(kw_only=True)
class NodeView:
    """One node as the record has it. `seen_age`: seconds since the read that showed `power` began.

    `fault`: why the last attempt to read or change it failed, if it did. `operation`: id of its
    unfinished operation. `status_age`: seconds in this status.
    """

    name: str
    chassis: str
    slot: str
    status: Status
    status_age: float
    owner: str | None = None
    reason: str | None = None
    power: Power = Power.UNKNOWN
    wanted: Power | None = None
    seen_age: float | None = None
    fault: Fault | None = None
    operation: str | None = None
    addresses: list[str] = field(factory=list)


@frozen(kw_only=True)
class ChassisView:
    """One chassis as the record has it: never its secrets, only which of them are set.

    `rack`: who holds its lease. `fault`: why it can't be spoken to, since `fault_age` seconds.
    """

    name: str
    driver: str
    settings: dict[str, str]
    secrets_set: list[str]
    credentials: int
    nodes: int
    rack: str | None = None
    fault: Fault | None = None
    fault_age: float | None = None


@frozen(kw_only=True)
class OperationView:
    """One operation as the record has it; `place` and `wait` (seconds) while it waits on the rack."""

    operation: str
    node: str
    chassis: str
    wish: Wish
    state: State
    requested_by: str
    age: float
    outcome: Outcome | None = None
    changed: bool | None = None
    power: Power = Power.UNKNOWN
    fault: Fault | None = None
    commands: int = 0
    place: int | None = None
    wait: float | None = None


@frozen(kw_only=True)
class ItemView:
    """What became of one node of a request. `outcome` is None while it runs; `refused` was never begun.

    For release and deploy the outcome is that of the whole move (`succeeded` = reached the status).
    """

    node: str
    operation: str | None = None
    outcome: Outcome | None = None
    refused: bool = False
    changed: bool | None = None
    status: Status | None = None
    power: Power = Power.UNKNOWN
    fault: Fault | None = None


@frozen(kw_only=True)
class RequestView:
    """How far a request is. `ended` when no item runs any more. Counts are of nodes."""

    request: str
    verb: Verb
    requested_by: str
    nodes: int
    running: int
    succeeded: int
    failed: int
    refused: int

    @property
    def ended(self) -> bool:
        """Tell whether every node has its outcome."""
        return self.running == 0


@frozen(kw_only=True)
class DiscoveryView:
    """How far a discovery is: `ended` with the numbers of nodes, or with the fault that stopped it."""

    ticket: str
    chassis: str
    ended: bool
    found: int = 0
    enrolled: int = 0
    fault: Fault | None = None


@frozen(kw_only=True)
class EventView:
    """Something that happened, as the record keeps it. `at`: ISO 8601 with zone, the database's clock.

    `kind` is one of: status, power, operation, chassis, rack, request, address. `text` is for people.
    """

    cursor: str
    at: str
    kind: str
    text: str
    node: str | None = None
    chassis: str | None = None
    operation: str | None = None


@frozen(kw_only=True)
class SettingView:
    """One setting of a driver, for validation and for forms. `kind`: text, number, flag, choice, url."""

    name: str
    kind: str
    help: str
    required: bool = False
    secret: bool = False
    default: str | None = None
    choices: list[str] = field(factory=list)


@frozen(kw_only=True)
class DriverView:
    """One driver and the settings that a chassis of it takes."""

    name: str
    help: str
    settings: list[SettingView]


@frozen(kw_only=True)
class Ask:
    """A request for many nodes. `nodes` is a node set (see `switchgear.nodeset`).

    `key`: the same key from the same client is the same request, however often it is sent.
    `owner`: for allocate; None = the client's name. `reason`: for mark-broken, up to 1000 characters.
    `power_off`: for mark-broken. `dry_run`: check everything and name the nodes, change nothing.
    """

    verb: Verb
    nodes: str
    key: str = ""
    owner: str | None = None
    reason: str | None = None
    power_off: bool = True
    dry_run: bool = False


@frozen(kw_only=True)
class AskAnswer:
    """The id to follow (empty for a dry run) and how many nodes it names; `refused` of them at once."""

    request: str
    nodes: int
    refused: int = 0


class HelloClient(amp.Command):
    """First message of a client. `name` is who it is: the owner of what it allocates."""

    arguments: ClassVar = fields(version=int, name=str)
    response: ClassVar = fields(version=int, region=str, generation=int)
    errors = AMP_ERRORS


class ListNodes(amp.Command):
    """Nodes of a set, in the order of their names. An empty set means all."""

    arguments: ClassVar = fields(nodes=str, after=str)
    response: ClassVar = fields(nodes=list[NodeView], more=bool)
    errors = AMP_ERRORS


class AddNode(amp.Command):
    """Enrol one node by hand, with the static addresses it holds. Conflict if name or slot is taken."""

    arguments: ClassVar = fields(name=str, chassis=str, slot=str, addresses=list[str])
    response: ClassVar = fields()
    errors = AMP_ERRORS


class ListDrivers(amp.Command):
    """The drivers of this region and their settings."""

    arguments: ClassVar = fields()
    response: ClassVar = fields(drivers=list[DriverView])
    errors = AMP_ERRORS


class ListChassis(amp.Command):
    """Chassis in the order of their names, after a name; only `name` if it is not empty."""

    arguments: ClassVar = fields(name=str, after=str)
    response: ClassVar = fields(chassis=list[ChassisView], more=bool)
    errors = AMP_ERRORS


class AddChassis(amp.Command):
    """Enrol a chassis. BadRequest names each setting that is wrong; Conflict if the name is taken."""

    arguments: ClassVar = fields(
        name=str, driver=str, settings=dict[str, str], secrets=dict[str, Secret]
    )
    response: ClassVar = fields()
    errors = AMP_ERRORS


class SetChassis(amp.Command):
    """Change some settings or secrets of a chassis; what is not named stays as it is."""

    arguments: ClassVar = fields(name=str, settings=dict[str, str], secrets=dict[str, Secret])
    response: ClassVar = fields()
    errors = AMP_ERRORS


class StartDiscovery(amp.Command):
    """Read a chassis once and enrol the slots that no node has, as `new`. Follow the ticket."""

    arguments: ClassVar = fields(chassis=str)
    response: ClassVar = fields(ticket=str)
    errors = AMP_ERRORS


class ShowDiscovery(amp.Command):
    """How far a discovery is."""

    arguments: ClassVar = fields(ticket=str)
    response: ClassVar = fields(discovery=DiscoveryView)
    errors = AMP_ERRORS


class AskFor(amp.Command):
    """Ask for a verb on a node set. Nothing is begun unless the whole set is understood and exists."""

    arguments: ClassVar = fields(ask=Ask)
    response: ClassVar = fields(answer=AskAnswer)
    errors = AMP_ERRORS


class ShowRequest(amp.Command):
    """How far a request is."""

    arguments: ClassVar = fields(request=str)
    response: ClassVar = fields(view=RequestView)
    errors = AMP_ERRORS


class ListItems(amp.Command):
    """What became of each node of a request, in the order of their names, after a name."""

    arguments: ClassVar = fields(request=str, after=str)
    response: ClassVar = fields(items=list[ItemView], more=bool)
    errors = AMP_ERRORS


class ShowOperation(amp.Command):
    """One operation."""

    arguments: ClassVar = fields(operation=str)
    response: ClassVar = fields(view=OperationView)
    errors = AMP_ERRORS


class Subscribe(amp.Command):
    """Send this link what happens from now on, or after `cursor` (of the last event seen), as `Happened`.

    Answers with the cursor where the stream begins. Asking again on one link moves the stream.
    """

    arguments: ClassVar = fields(cursor=str)
    response: ClassVar = fields(cursor=str)
    errors = AMP_ERRORS


class Happened(amp.Command):
    """Events, oldest first, from the region to a client that subscribed. None is left out."""

    arguments: ClassVar = fields(events=list[EventView])
    response: ClassVar = fields()
    errors = AMP_ERRORS
