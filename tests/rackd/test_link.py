"""A whole rack in this process: real sockets, real threads, the in-memory driver, a fake region."""

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.trial.unittest import SynchronousTestCase, TestCase

from drivers.memory import MemoryDriver
from rackd.journal import Journal
from rackd.keeping import FIRST_RETRY, LAST_RETRY, Keeper, retry_after
from rackd.link import Bench, Identity
from rackd.links import Links
from rackd.rack import Rack
from rackd.reporter import Reporter
from switchgear import clock
from switchgear.errors import StaleEpoch, TryAgain
from switchgear.operation import Outcome
from switchgear.power import Power, Wish
from tests.rackd.fake_region import FakeRegion
from tests.rackd.folder import own_folder
from tests.rackd.values import grant, order
from threadpool import AdaptivePool, PoolSettings


class RetryTests(SynchronousTestCase):
    """How soon a region is tried again."""

    def test_tries_become_rarer_up_to_a_limit_and_are_spread(self):
        """Half of the time is chance."""
        assert retry_after(0, lambda: 1.0) == FIRST_RETRY
        assert retry_after(0, lambda: 0.0) == FIRST_RETRY / 2
        assert retry_after(10_000, lambda: 1.0) == LAST_RETRY


class LinkTests(TestCase):
    """What a region sees of a rack."""

    timeout = 20

    async def setUp(self):
        """A rack that is linked to a region and holds two chassis."""
        MemoryDriver.chassis.clear()
        self.ready = []
        self.region = FakeRegion(grant("c1"), grant("c2"), page=1)
        await self.region.listen(reactor)
        self.pool = AdaptivePool(PoolSettings(base=2, ceiling=4), reactor)
        self.pool.start()
        self.links = Links()
        self.journal = Journal(own_folder(self) / "journal", clock.boot_id())
        self.journal.open(reactor.seconds())
        self.reporter = Reporter(reactor, self.links)
        self.rack = Rack(
            clock=reactor, pool=self.pool, journal=self.journal, reporter=self.reporter
        )
        self.rack.start()
        self.keepers = []
        self.keep(self.region)
        await self.region.until(lambda: self.ready)

    def keep(self, region):
        """Link the rack to a region."""
        bench = Bench(
            clock=reactor,
            rack=self.rack,
            links=self.links,
            identity=Identity(name="r1", incarnation="i1", heir=True),
            ready=self.is_ready,
        )
        endpoint = HostnameEndpoint(reactor, "127.0.0.1", region.port)
        self.keepers.append(Keeper(endpoint, "fake", bench))
        self.keepers[-1].start()

    def is_ready(self):
        """Note that the rack asked for leases."""
        self.ready.append(True)
        self.region.changed()

    async def tearDown(self):
        """Stop all of it."""
        await self.rack.drain(1.0)
        self.reporter.stop()
        for keeper in self.keepers:
            await keeper.stop()
        await self.region.stop()
        await self.pool.stop()
        self.journal.close()

    async def test_a_rack_says_who_it_is_and_asks_for_every_page_of_leases(self):
        """It is ready when it asked."""
        hello = self.region.links[0].hello
        assert hello == {"version": 1, "name": "r1", "incarnation": "i1", "heir": True}
        assert self.region.renewals[:2] == ["", "c1"]

    async def test_an_order_is_acknowledged_at_once_and_reported_when_done(self):
        """The sighting comes before the result that rests on it."""
        MemoryDriver.chassis.clear()
        answer = await self.region.dispatch("c1", order(wish=Wish.ON))
        assert answer["read_mark"] == 0
        await self.region.until(lambda: self.region.results)
        result = self.region.results[0]
        assert (result.operation, result.outcome, result.power) == (
            "1.1",
            Outcome.SUCCEEDED,
            Power.ON,
        )
        assert MemoryDriver.chassis["c1"].commands == [("0", Wish.ON)]
        sightings = [item.sighting for item in self.region.items if item.sighting]
        assert sightings[-1].power is Power.ON

    async def test_an_order_under_another_lease_is_refused(self):
        """Exactly the epoch counts, and only of a chassis that is held."""
        self.region.grants["c1"] = grant("c1", epoch=2)
        with self.assertRaises(StaleEpoch):
            await self.region.dispatch("c1", order())
        self.region.grants["c9"] = grant("c9")
        with self.assertRaises(StaleEpoch):
            await self.region.dispatch("c9", order())
        with self.assertRaises(StaleEpoch):
            await self.region.cancel("c9", "1.1")

    async def test_a_discovery_reads_every_slot(self):
        """It is answered by messages of its own."""
        await self.region.discover("c2", "ticket")
        await self.region.until(lambda: self.region.discovered)
        (found,) = self.region.discovered
        assert (found["ticket"], found["more"], found["fault"]) == ("ticket", False, None)
        assert [slot.slot for slot in found["slots"]] == [str(number) for number in range(8)]

    async def test_a_region_that_comes_back_gets_what_was_done_meanwhile(self):
        """The rack goes on under its leases while it is away."""
        await self.region.dispatch("c1", order(wish=Wish.ON))
        await self.region.stop()
        self.region.items.clear()
        await self.region.listen(reactor)
        await self.region.until(lambda: self.region.links)
        await self.region.dispatch("c1", order(wish=Wish.ON))
        await self.region.until(lambda: self.region.results)
        assert MemoryDriver.chassis["c1"].commands == [("0", Wish.ON)]

    async def test_a_second_region_takes_the_reports_of_a_first_that_fails(self):
        """They share one record."""
        second = FakeRegion(grant("c1"), grant("c2"))
        await second.listen(reactor)
        self.keep(second)
        await second.until(lambda: second.renewals)
        self.region.refuse = TryAgain("no database")
        await self.region.dispatch("c1", order(wish=Wish.QUERY))
        await second.until(lambda: second.results)
        await self.keepers.pop().stop()
        await second.stop()

    async def test_a_stopping_rack_takes_no_orders(self):
        """And its sessions are closed when it has drained."""
        await self.region.dispatch("c1", order(wish=Wish.ON))
        await self.region.until(lambda: self.region.results)
        draining = Deferred.fromCoroutine(self.rack.drain(1.0))
        with self.assertRaises(TryAgain):
            await self.region.dispatch("c1", order("1.2"))
        await draining
        assert MemoryDriver.chassis["c1"].sessions == 0
