"""A record on a real PostgreSQL with a few nodes, and one rack that does what a test tells it."""

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from regiond.record import (
    asking,
    chassis,
    dispatching,
    leasing,
    nodes,
    releasing,
    reporting,
    requests,
)
from regiond.record.dispatching import Parcel
from regiond.record.sealing import Keys
from regiond.store.connecting import connect
from regiond.store.migrating import migrate
from switchgear.life import Status, Verb
from switchgear.operation import Outcome
from switchgear.power import ErrorClass, Fault, Power
from switchgear.secret import Secret
from switchgear.wire.client import Ask, AskAnswer, ItemView, NodeView, OperationView
from switchgear.wire.rack import Order, Result, Seen, Sighting

T = TypeVar("T")
P = ParamSpec("P")

PASSWORD = "S3cr-marker-91"
NO_ANSWER = Fault(ErrorClass.TIMED_OUT, "it never went off")


class World:
    """Everything a test does to the record is one committed transaction each."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.keys = Keys(b"k" * 32)
        self.connection: Any = connect(dsn)
        migrate(self.connection)
        self.reads = 0

    def close(self) -> None:
        self.connection.close()

    def do(self, f: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one step of the record and commit it."""
        try:
            with self.connection.cursor() as cur:
                result = f(cur, *args, **kwargs)
        except BaseException:
            self.connection.rollback()
            raise
        self.connection.commit()
        return result

    def sql(self, text: str, **parameters: object) -> list[Any]:
        def run(cur: Any) -> list[Any]:
            cur.execute(text, parameters)
            return list(cur.fetchall()) if cur.description else []

        return self.do(run)

    def enrol(self, count: int, name: str = "sm-1", status: Status = Status.NEW) -> list[str]:
        """Add a chassis with `count` nodes, each with a static address, and put them in a status."""
        self.do(
            chassis.add_chassis,
            self.keys,
            name,
            "memory",
            {"chassis": name},
            {"password": Secret(PASSWORD)},
        )
        names = [f"{name}-{slot:03}" for slot in range(count)]
        for slot, node in enumerate(names):
            self.do(nodes.add_node, node, name, str(slot), [_ip(name, slot)])
        self.sql(
            "UPDATE life SET status = %(status)s, owner = %(owner)s WHERE node = ANY (%(names)s)",
            status=status,
            owner="juju" if status not in (Status.NEW, Status.READY) else None,
            names=names,
        )
        return names

    def ask(
        self, verb: Verb, expression: str = "@all", client: str = "juju", **more: Any
    ) -> AskAnswer:
        return self.do(asking.ask, client, Ask(verb=verb, nodes=expression, **more))

    def node(self, name: str) -> NodeView:
        return self.do(nodes.list_nodes, [name], "", 1)[0]

    def items(self, answer: AskAnswer) -> list[ItemView]:
        return self.do(requests.list_items, answer.request, "", 10_000)

    def operation(self, name: str) -> OperationView:
        (row,) = self.sql("SELECT max(number) AS number FROM operation WHERE node = %(n)s", n=name)
        return self.do(requests.show_operation, f"1.{row.number}")

    def rack(self, rack: str = "rack-a", incarnation: str = "i1", *, heir: bool = True) -> None:
        self.do(leasing.hello, rack, incarnation, heir)
        self.do(leasing.renew, self.keys, rack, incarnation, "", 200)

    def lapse(self) -> None:
        """Let every lease run out now."""
        self.sql("UPDATE lease SET expires = now() - interval '1 second'")

    def claim(self, rack: str = "rack-a", incarnation: str = "i1") -> list[Parcel]:
        return self.do(dispatching.claim, "run-1", [(rack, incarnation)], 1000)

    def dispatch(self, rack: str = "rack-a", incarnation: str = "i1") -> list[Order]:
        """Send what waits to the rack; return the orders."""
        parcels = self.claim(rack, incarnation)
        for parcel in parcels:
            self.do(dispatching.sent, parcel, self.reads)
        return [order for parcel in parcels for order in parcel.orders]

    def report(self, *items: Seen, rack: str = "rack-a", incarnation: str = "i1") -> set[str]:
        return self.do(reporting.report, rack, incarnation, list(items))

    def sighting(
        self, name: str, power: Power, *, read: int | None = None, epoch: int | None = None
    ) -> Seen:
        self.reads += read is None
        node = self.node(name)
        (row,) = self.sql("SELECT epoch FROM lease WHERE chassis = %(c)s", c=node.chassis)
        return Seen(
            sighting=Sighting(
                chassis=node.chassis,
                epoch=row.epoch if epoch is None else epoch,
                read=self.reads if read is None else read,
                slot=node.slot,
                power=power,
                age=0.0,
            )
        )

    def obey(self, orders: Sequence[Order], fault: Fault | None = None) -> set[str]:
        """Let the rack do the orders (or fail them all), report it, and finish what is then finished."""
        items: list[Seen] = []
        for order in orders:
            power = order.wish.power or Power.OFF
            if fault is None:
                items.append(self.sighting(order.node, power))
            items.append(self.result(order, fault=fault))
        ripe = self.report(*items)
        self.do(releasing.finish, ripe)
        return ripe

    def result(self, order: Order, fault: Fault | None = None, epoch: int | None = None) -> Seen:
        node = self.node(order.node)
        (row,) = self.sql("SELECT epoch FROM lease WHERE chassis = %(c)s", c=node.chassis)
        return Seen(
            result=Result(
                operation=order.operation,
                chassis=node.chassis,
                epoch=row.epoch if epoch is None else epoch,
                outcome=Outcome.SUCCEEDED if fault is None else Outcome.TIMED_OUT,
                changed=fault is None,
                power=(order.wish.power or Power.OFF) if fault is None else Power.ON,
                fault=fault,
                commands=1,
            )
        )


def _ip(chassis_name: str, slot: int) -> str:
    return f"10.{chassis_name[-1]}.{slot // 250}.{slot % 250 + 1}"
