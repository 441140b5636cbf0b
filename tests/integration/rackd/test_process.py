"""rackd as a user starts it, against a fake region and a simulated chassis."""

import json
import stat

from attrs import evolve
from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.trial.unittest import TestCase

from switchgear.operation import Outcome
from switchgear.power import ErrorClass, Power, Wish
from switchgear.secret import Secret
from switchgear.wire.rack import Grant
from tests.integration.rackd.processes import Running, SimulatedChassis
from tests.rackd.fake_region import FakeRegion
from tests.rackd.folder import own_folder
from tests.rackd.values import order

PASSWORD = "S3cr-marker-91"


class ProcessTests(TestCase):
    """One rack daemon, one region."""

    timeout = 40

    async def setUp(self):
        """Start nothing yet but the region."""
        self.folder = own_folder(self)
        self.running = []
        self.region = FakeRegion()
        await self.region.listen(reactor)

    async def tearDown(self):
        """End every process, then the region."""
        for process in self.running:
            await process.end("KILL")
        await self.region.stop()

    async def chassis(self, *options, **settings):
        """Start a simulated chassis, and grant it to whoever asks."""
        simulated = SimulatedChassis("--password", PASSWORD, *options)
        self.running.append(simulated)
        await simulated.started()
        self.region.grants["sm-1"] = Grant(
            chassis="sm-1",
            epoch=1,
            seconds=55.0,
            driver="seamicro",
            settings={"url": simulated.url, "user": "admin", **settings},
            secrets={"password": Secret(PASSWORD)},
            credentials=1,
        )
        return simulated

    def rack(self, **changes):
        """Start a rack daemon."""
        config = {
            "name": "rack-1",
            "state": "state",
            "regions": [{"host": "127.0.0.1", "port": self.region.port}],
            "log": "rackd.log",
        }
        file = self.folder / "rackd.json"
        file.write_text(json.dumps(config | changes))
        process = Running("rackd.main", "--config", file)
        process.until(lambda: process.code is not None).addCallback(lambda _: self.region.changed())
        self.running.append(process)
        return process

    async def linked(self, rack):
        """Wait until the rack asked for leases."""
        self.region.renewals.clear()
        await self.region.until(
            lambda: rack.code is not None or (self.region.renewals and self.region.links)
        )
        assert rack.code is None, rack.errors.decode()

    async def results(self, count):
        """Wait for so many results."""
        await self.region.until(lambda: len(self.region.results) >= count)
        return self.region.results

    async def test_orders_are_done_and_a_stop_leaves_nothing_behind(self):
        """Every server ends off by one command in one session; the log and the state are in order."""
        simulated = await self.chassis("--off-effect", 0.2, 0.2)
        rack = self.rack()
        await self.linked(rack)
        orders = [order(f"1.{n}", f"{n}/0", Wish.OFF, f"n{n}") for n in range(8)]
        await self.region.dispatch("sm-1", *orders)
        results = await self.results(8)
        assert {result.outcome for result in results} == {Outcome.SUCCEEDED}
        assert {result.power for result in results} == {Power.OFF}
        state = self.folder / "state"
        assert (state / "ready").read_text() == f"{rack.process.pid}\n"
        assert stat.S_IMODE(state.stat().st_mode) == 0o700
        assert await rack.end() == 0
        assert not (state / "ready").exists()
        figures = await simulated.ask("/act")
        assert figures["commands_per_node_max"] == 1
        assert figures["max_sessions"] == 1
        log = (self.folder / "rackd.log").read_text()
        assert "stopped" in log
        assert "Traceback" not in log
        for text in (log, (state / "journal").read_text(), rack.errors.decode()):
            assert PASSWORD not in text

    async def test_a_killed_rack_repeats_no_command_that_still_takes_effect(self):
        """Its next life reads what became of it, under a new lease, and tells it."""
        simulated = await self.chassis("--off-effect", 2.0, 2.0)
        rack = self.rack()
        await self.linked(rack)
        await self.region.dispatch("sm-1", order(slot="7/0"))
        await self.region.until(lambda: b"7/0" in (self.folder / "state" / "journal").read_bytes())
        await self.sent(simulated)
        await rack.end("KILL")
        self.region.grants["sm-1"] = evolve(self.region.grants["sm-1"], epoch=2)
        await self.linked(self.rack())
        assert self.region.links[0].hello["heir"]
        await self.region.dispatch("sm-1", order(slot="7/0"))
        (result,) = await self.results(1)
        assert (result.outcome, result.power) == (Outcome.SUCCEEDED, Power.OFF)
        figures = await simulated.ask("/act")
        assert figures["commands_per_node_max"] == 1
        assert figures["max_sessions"] == 1

    async def sent(self, simulated):
        """Wait until the chassis got the command."""
        while not (await simulated.ask("/act"))["commands"]:
            await deferLater(reactor, 0.02)

    async def test_a_wrong_password_is_told_as_such(self):
        """The operation fails, with the class that says who can act."""
        await self.chassis()
        grant = self.region.grants["sm-1"]
        self.region.grants["sm-1"] = evolve(grant, secrets={"password": Secret("wrong")})
        await self.linked(self.rack())
        await self.region.dispatch("sm-1", order(slot="7/0"))
        (result,) = await self.results(1)
        assert (result.outcome, result.fault.kind) == (Outcome.FAILED, ErrorClass.AUTH)

    async def test_a_stop_does_not_wait_for_a_chassis_that_hangs(self):
        """What runs is aborted; the rack ends in time, and in order."""
        simulated = await self.chassis()
        rack = self.rack()
        await self.linked(rack)
        await simulated.ask("/knobs", {"frozen": True})
        await self.region.dispatch("sm-1", order(slot="7/0", wish=Wish.QUERY))
        began = reactor.seconds()
        assert await rack.end() == 0
        assert reactor.seconds() - began < 16.0

    async def test_a_second_rack_beside_the_first_refuses(self):
        """It says who works there, and touches nothing."""
        rack = self.rack()
        await self.linked(rack)
        second = self.rack()
        assert await second.ended() == 3
        assert f"process {rack.process.pid}" in second.errors.decode()
        assert (self.folder / "state" / "ready").exists()

    async def test_a_wrong_configuration_is_said_in_one_line(self):
        """It names the field; the exit code is that of a usage error."""
        rack = self.rack(regions=[{"host": "127.0.0.1", "port": 0}])
        assert await rack.ended() == 2
        (line,) = rack.errors.decode().splitlines()
        assert "port must be 1 to 65535" in line
