"""A region's links over real sockets and a real PostgreSQL: clients, and a rack made by hand."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor as installed
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.protocol import Factory
from twisted.internet.task import deferLater
from twisted.trial.unittest import TestCase

from switchgear.client import Client
from switchgear.errors import BadRequest, NoSuchThing, TryAgain
from switchgear.operation import Outcome
from switchgear.power import Power
from switchgear.secret import Secret
from switchgear.wire.client import EventView
from switchgear.wire.peer import Peer
from switchgear.wire.rack import (
    Dispatch,
    HelloRack,
    Order,
    RenewLeases,
    Report,
    Result,
    Seen,
    Sighting,
)
from switchgear_cli.up.ports import answers, free_port
from tests.postgres import fresh_database, running_postgres

reactor: Any = installed


class HandRack(Peer):
    """A rack that does what a test says: it drops the first `deaf` dispatches, and keeps the others."""

    def __init__(self) -> None:
        super().__init__()
        self.deaf = 0
        self.orders: list[tuple[int, Order]] = []
        self.came: Deferred[None] = Deferred()

    @Dispatch.responder
    def _dispatch(
        self, chassis: str, epoch: int, orders: list[Order], credentials: int | None = None
    ) -> dict[str, object]:
        if self.deaf:
            self.deaf -= 1
            raise TryAgain("not now")
        self.orders += [(epoch, order) for order in orders]
        came, self.came = self.came, Deferred()
        came.callback(None)
        return {"read_mark": 0}

    def seen_off(self, epoch: int, order: Order, chassis: str) -> list[Seen]:
        """Return a report: the node is off, after one command."""
        return [
            Seen(
                sighting=Sighting(
                    chassis=chassis, epoch=epoch, read=1, slot=order.slot, power=Power.OFF, age=0.1
                )
            ),
            Seen(
                result=Result(
                    operation=order.operation,
                    chassis=chassis,
                    epoch=epoch,
                    outcome=Outcome.SUCCEEDED,
                    changed=True,
                    power=Power.OFF,
                    commands=1,
                )
            ),
        ]


@pytest.fixture(scope="class")
def region(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """A regiond with one thread and one connection, for the tests of a class."""
    folder: Path = tmp_path_factory.mktemp("region")
    ports = {name: free_port() for name in ("web", "clients", "racks")}
    with running_postgres() as server:
        config = {
            "dsn": fresh_database(server),
            "key_file": "secret.key",
            **{name: {"host": "127.0.0.1", "port": port} for name, port in ports.items()},
            "pool": {"base": 1, "ceiling": 1, "leases": 1},
        }
        (folder / "regiond.json").write_text(json.dumps(config))
        argv = [sys.executable, "-m", "regiond.main", "--config", str(folder / "regiond.json")]
        with subprocess.Popen(argv, stderr=subprocess.PIPE) as process:
            while not answers(ports["web"]) and process.poll() is None:
                threading.Event().wait(0.1)
            request.cls.ports = ports
            yield
            process.terminate()
            process.communicate(timeout=20)
            assert process.returncode == 0


@pytest.mark.usefixtures("region")
class RegionTests(TestCase):
    """A pool of one thread serves clients and a rack, through lost and doubled messages."""

    timeout = 60
    ports: dict[str, int]

    async def client(self, name: str) -> Client:
        client = await Client.connect(reactor, f"127.0.0.1:{self.ports['clients']}", name=name)
        self.addCleanup(lambda: Deferred.fromCoroutine(client.close()))
        return client

    async def rack(self) -> HandRack:
        endpoint = HostnameEndpoint(reactor, "127.0.0.1", self.ports["racks"])
        rack: HandRack = await endpoint.connect(Factory.forProtocol(HandRack))
        self.addCleanup(rack.close)
        await rack.callRemote(HelloRack, version=1, name="hand", incarnation="one", heir=True)
        return rack

    async def test_a_release_with_lost_and_doubled_messages(self) -> None:
        """A dispatch that failed comes again; a report told twice counts once; events come in order."""
        client, rack = await self.client("juju"), await self.rack()
        settings = {"url": "http://127.0.0.1:9/v2.0", "user": "admin"}
        await client.add_chassis("c1", "seamicro", settings, {"password": Secret("S3cr-marker-91")})
        for number in range(3):
            await client.add_node(f"n{number}", "c1", f"{number}/0", [f"10.9.0.{number + 1}"])
        grants = (await rack.callRemote(RenewLeases, after=""))["grants"]
        assert [(g.chassis, g.secrets["password"].reveal()) for g in grants] == [
            ("c1", "S3cr-marker-91")
        ]
        events: list[EventView] = []
        await client.subscribe(events.append)

        accepted = await client.accept("n[0-2]")
        await self._serve(rack, 3)
        await client.follow(accepted.request, timeout=20)
        allocated = await client.allocate("n[0-2]")
        await client.follow(allocated.request, timeout=20)

        rack.deaf = 2
        rack.orders.clear()
        released = await client.release("n[0-2]")
        await self._serve(rack, 3, twice=True)
        view, items = await client.follow(released.request, timeout=30)
        assert (view.succeeded, view.failed) == (3, 0)
        assert {item.outcome for item in items} == {Outcome.SUCCEEDED}
        nodes = await client.nodes("n[0-2]")
        assert {(n.status, n.owner, tuple(n.addresses)) for n in nodes} == {("ready", None, ())}

        again = await client.release("n[0-2]")
        assert (await client.follow(again.request, timeout=10))[0].succeeded == 3
        await deferLater(reactor, 0.5)
        ready = [
            e.node for e in events if e.kind == "status" and e.text.startswith("releasing -> ready")
        ]
        assert sorted(str(node) for node in ready) == ["n0", "n1", "n2"]
        assert "S3cr-marker-91" not in str(events)

    async def _serve(self, rack: HandRack, count: int, twice: bool = False) -> None:
        while len(rack.orders) < count:
            await rack.came
        for epoch, order in rack.orders[:count]:
            report = rack.seen_off(epoch, order, "c1")
            for _ in range(2 if twice else 1):
                await rack.callRemote(Report, items=report)

    async def test_bad_calls_fail_alone(self) -> None:
        """A wrong call gets its error, and the link goes on."""
        client = await self.client("juju")
        for call, error in (
            (client.nodes("nobody"), NoSuchThing),
            (client.nodes("n[1"), BadRequest),
            (client.operation("x"), BadRequest),
            (client.operation("1.999999"), NoSuchThing),
            (client.release("@chassis:none"), NoSuchThing),
        ):
            try:
                await call
            except error:
                continue
            raise AssertionError(f"no {error.__name__}")
        assert await client.drivers()
