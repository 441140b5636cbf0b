"""The rack and its chassis, single-stepped: a hand-run pool, a fake clock, the in-memory driver."""

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from drivers.memory import MemoryDriver
from rackd import chassis as module
from rackd.journal import End, Journal, Line
from rackd.leases import LOOK_EVERY
from rackd.links import Links
from rackd.rack import FORGET_AFTER, Rack
from rackd.reporter import Reporter
from switchgear.errors import StaleEpoch, TryAgain
from switchgear.operation import Outcome
from switchgear.power import Power, Wish
from tests.rackd.folder import own_folder
from tests.rackd.hand_pool import HandPool
from tests.rackd.values import grant, order


class News:
    """What a rack tells, in place of a reporter."""

    def __init__(self):
        self.items, self.discovered = [], []

    def tell(self, items):
        """Keep items."""
        self.items += items

    def found(self, ticket, found):
        """Keep a discovery."""
        self.discovered.append((ticket, found))

    @property
    def results(self):
        """Only the results."""
        return [item.result for item in self.items if item.result]


class RackTests(SynchronousTestCase):
    """What a rack does under its leases."""

    def setUp(self):
        """A rack without leases."""
        MemoryDriver.chassis.clear()
        self.clock, self.pool, self.news = Clock(), HandPool(), News()
        self.clock.advance(1000.0)
        self.journal = Journal(own_folder(self) / "journal", "b")
        self.journal.open(1000.0)
        self.addCleanup(self.journal.close)
        self.rack = self.build()

    def build(self):
        """Return a rack on the same journal."""
        rack = Rack(
            clock=self.clock,
            pool=self.pool,
            journal=self.journal,
            reporter=self.news,
            chance=lambda: 0.5,
        )
        rack.start()
        return rack

    def settle(self, seconds=5.0):
        """Let calls run, and time pass, in small steps."""
        for _ in range(int(seconds / 0.05)):
            self.pool.run_all()
            self.clock.advance(0.05)
        self.pool.run_all()

    def grant(self, *grants):
        """Grant leases now."""
        self.rack.granted(self.clock.seconds(), grants)

    def test_an_order_is_done_and_told(self):
        """One command, one result."""
        self.grant(grant())
        assert self.rack.dispatch("c1", 1, [order(wish=Wish.ON)]) == 0
        self.settle()
        (result,) = self.news.results
        assert (result.outcome, result.power) == (Outcome.SUCCEEDED, Power.ON)
        assert MemoryDriver.chassis["c1"].commands == [("0", Wish.ON)]
        assert [line.end for line in self.journal.left("c1")] == [End.ACCEPTED]

    def test_the_session_is_closed_when_the_work_is_done(self):
        """A chassis has one login, and others may want it."""
        self.grant(grant())
        self.rack.dispatch("c1", 1, [order(wish=Wish.QUERY)])
        self.settle(10.0)
        assert MemoryDriver.chassis["c1"].sessions == 0

    def test_the_read_mark_is_the_last_read_before_the_order(self):
        """Only later reads can settle it."""
        self.grant(grant())
        self.rack.dispatch("c1", 1, [order("1.1", wish=Wish.QUERY)])
        self.settle()
        assert self.rack.dispatch("c1", 1, [order("1.2", wish=Wish.QUERY)]) == 1

    def test_orders_count_only_under_a_lease_that_is_held(self):
        """Exactly its epoch, and until its time has passed."""
        with self.assertRaises(StaleEpoch):
            self.rack.dispatch("c1", 1, [order()])
        self.grant(grant(epoch=2))
        with self.assertRaises(StaleEpoch):
            self.rack.dispatch("c1", 1, [order()])
        self.clock.advance(56.0)
        with self.assertRaises(StaleEpoch):
            self.rack.dispatch("c1", 2, [order()])

    def test_no_call_begins_that_could_outlive_the_lease(self):
        """The rack stops before the lease runs out, and goes on when it is renewed."""
        self.grant(grant(seconds=10.0))
        self.clock.advance(6.0)
        self.rack.dispatch("c1", 1, [order(wish=Wish.QUERY)])
        self.settle(2.0)
        assert self.news.results == []
        assert MemoryDriver.chassis.get("c1") is None
        self.grant(grant(seconds=55.0))
        self.settle(2.0)
        assert len(self.news.results) == 1

    def test_a_lease_that_ran_out_ends_the_session(self):
        """Another rack may log in from then on."""
        self.grant(grant(seconds=30.0))
        self.rack.dispatch("c1", 1, [order(wish=Wish.QUERY)])
        self.pool.run_all()
        self.clock.advance(30.0 + LOOK_EVERY)
        self.pool.run_all()
        assert MemoryDriver.chassis["c1"].sessions == 0

    def test_a_restored_record_ends_every_lease(self):
        """Its epochs begin anew; no call is made before it granted the chassis."""
        self.rack.enter(1)
        self.grant(grant(epoch=40))
        self.rack.dispatch("c1", 40, [order(wish=Wish.QUERY)])
        self.settle(1.0)
        assert self.rack.enter(2)
        with self.assertRaises(StaleEpoch):
            self.rack.dispatch("c1", 40, [order("1.2", wish=Wish.QUERY)])
        self.pool.run_all()
        assert MemoryDriver.chassis["c1"].sessions == 0
        self.grant(grant(epoch=1))
        self.rack.dispatch("c1", 1, [order("2.1", wish=Wish.QUERY)])
        self.settle(2.0)
        assert [result.operation for result in self.news.results] == ["1.1", "2.1"]

    def test_a_chassis_that_is_long_gone_is_forgotten(self):
        """With its credentials."""
        self.grant(grant())
        self.clock.pump([LOOK_EVERY] * 40)
        self.pool.run_all()
        self.rack.cancel("c1", ["1.1"])
        self.clock.advance(FORGET_AFTER)
        self.clock.advance(LOOK_EVERY)
        with self.assertRaises(StaleEpoch):
            self.rack.cancel("c1", ["1.1"])

    def test_a_grant_that_cannot_be_used_does_not_spoil_the_others(self):
        """Its defect is in the log; a chassis of an unknown driver fails its orders with the reason."""
        self.patch(module.Chassis, "granted", self.only_good(module.Chassis.granted))
        self.grant(grant("bad"), grant("c1"), grant("odd", driver="toaster"))
        assert len(self.flushLoggedErrors(ZeroDivisionError)) == 1
        self.rack.dispatch("c1", 1, [order(wish=Wish.QUERY)])
        self.settle(2.0)
        assert len(self.news.results) == 1

    def only_good(self, granted):
        """Return a version of a method that fails for the chassis `bad`."""

        def fail(chassis, lease, terms):
            if chassis.name == "bad":
                raise ZeroDivisionError
            granted(chassis, lease, terms)

        return fail

    def test_an_intent_of_an_earlier_life_keeps_a_command_from_being_repeated(self):
        """It may still take effect: until then the chassis is only read."""
        line = Line(
            chassis="c1",
            slot="0",
            wish=Wish.ON,
            operation="1.1",
            at=999.9,
            boot="b",
            effect=1.0,
        )
        self.journal.intend(line)
        self.grant(grant())
        self.rack.dispatch("c1", 1, [order(wish=Wish.ON)])
        self.settle(0.5)
        chassis = MemoryDriver.chassis["c1"]
        assert chassis.commands == []
        chassis.power["0"] = Power.ON
        self.settle()
        assert [result.outcome for result in self.news.results] == [Outcome.SUCCEEDED]
        assert chassis.commands == []

    def test_draining_takes_no_orders_and_closes_the_sessions(self):
        """Also when a call hangs: it is aborted before the limit."""
        self.grant(grant())
        self.rack.dispatch("c1", 1, [order(wish=Wish.QUERY)])
        self.pool.run_all()
        drained = Deferred.fromCoroutine(self.rack.drain(10.0))
        with self.assertRaises(TryAgain):
            self.rack.dispatch("c1", 1, [order("1.2")])
        self.settle(11.0)
        self.successResultOf(drained)
        assert MemoryDriver.chassis["c1"].sessions == 0
        assert not self.clock.getDelayedCalls()

    def test_a_discovery_goes_to_who_asked(self):
        """With every slot of the chassis."""
        self.grant(grant())
        self.rack.discover("c1", 1, "ticket")
        self.settle(2.0)
        ((ticket, found),) = self.news.discovered
        assert (ticket, len(found)) == ("ticket", 8)


class ReporterIsNews(SynchronousTestCase):
    """The stand-in for a reporter has a reporter's methods."""

    def test_the_reporter_has_what_the_rack_uses(self):
        """Else the tests above would prove nothing."""
        reporter = Reporter(Clock(), Links())
        assert callable(reporter.tell)
        assert callable(reporter.found)
