from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionLost
from twisted.internet.task import Clock
from twisted.protocols import amp
from twisted.trial.unittest import SynchronousTestCase

from rackd.links import Links
from rackd.reporter import AGAIN, GATHER, LIMIT, Reporter
from switchgear.errors import BadRequest, Bug, TryAgain
from switchgear.power import ErrorClass, Fault, Power
from switchgear.wire.rack import Discovered, Report
from tests.rackd.values import progress, result, sighting


class HandLink:
    """A link whose calls are answered by the test."""

    def __init__(self):
        self.calls = []

    def callRemote(self, command, **arguments):
        """Note the call."""
        answer = Deferred()
        self.calls.append((command, arguments, answer))
        return answer

    def taken(self):
        """Take the oldest call: what it tells, and its answer."""
        command, arguments, answer = self.calls.pop(0)
        return (arguments["items"] if command is Report else arguments), answer


class ReporterTests(SynchronousTestCase):
    """What is told, when, and to whom."""

    def setUp(self):
        """A reporter with one region."""
        self.clock, self.links, self.link = Clock(), Links(), HandLink()
        self.reporter = Reporter(self.clock, self.links)
        self.links.add(self.link)

    def tell(self, *items):
        """Tell, and let the moment of gathering pass."""
        self.reporter.tell(items)
        self.clock.advance(GATHER)

    def test_a_burst_is_one_message(self):
        """And the next one is sent when the first was committed."""
        self.reporter.tell([result("1.1")])
        self.reporter.tell([result("1.2")])
        assert self.link.calls == []
        self.clock.advance(GATHER)
        self.reporter.tell([result("1.3")])
        items, answer = self.link.taken()
        assert items == [result("1.1"), result("1.2")]
        assert self.link.calls == []
        answer.callback({})
        assert self.link.taken()[0] == [result("1.3")]

    def test_a_message_is_sent_again_until_it_is_committed(self):
        """Whatever kept it from being so."""
        self.tell(result())
        for problem in (TryAgain("away"), ConnectionLost(), Bug("oh")):
            self.link.taken()[1].errback(problem)
            assert self.link.calls == []
            self.clock.advance(AGAIN)
        items, answer = self.link.taken()
        assert items == [result()]
        answer.callback({})
        self.clock.advance(AGAIN)
        assert self.link.calls == []

    def test_another_region_is_told_when_one_does_not_answer(self):
        """They share the record."""
        other = HandLink()
        self.links.add(other)
        self.tell(result())
        assert len(self.link.calls) == 1
        self.clock.advance(LIMIT)
        self.clock.advance(AGAIN)
        assert other.taken()[0] == [result()]

    def test_what_is_told_while_every_region_is_away_is_kept(self):
        """And sent when one is linked."""
        self.links.remove(self.link)
        self.tell(progress(), result())
        self.clock.advance(1000.0)
        self.links.add(self.link)
        self.clock.advance(GATHER)
        assert self.link.taken()[0] == [progress(), result()]

    def test_an_item_that_no_region_can_take_does_not_hold_up_the_others(self):
        """It is found by sending one at a time, said in the log, and dropped."""
        self.tell(sighting("bad"), result())
        self.link.taken()[1].errback(BadRequest("no"))
        self.clock.advance(AGAIN)
        items, answer = self.link.taken()
        assert items == [sighting("bad", age=GATHER + AGAIN)]
        answer.errback(BadRequest("no"))
        self.clock.advance(AGAIN)
        assert self.link.taken()[0] == [result()]

    def test_an_item_that_cannot_be_written_does_not_hold_up_the_others(self):
        """AMP refuses it before it leaves: each is then tried alone, and only that one is dropped."""
        self.tell(result("1.1"), result("1.2"))
        items, answer = self.link.taken()
        answer.errback(amp.TooLong(False, True, None, b"items"))
        self.clock.advance(AGAIN)
        items, answer = self.link.taken()
        assert items == [result("1.1")]
        answer.errback(ValueError("no way to write it"))
        self.clock.advance(AGAIN)
        assert self.link.taken()[0] == [result("1.2")]
        assert self.flushLoggedErrors() == []

    def test_a_discovery_is_told_page_by_page(self):
        """The last page says that it is the last."""
        slots = {f"{number}/0": Power.ON for number in range(3000)}
        self.reporter.found("t1", slots)
        self.clock.advance(GATHER)
        told, more = [], True
        while more:
            page, answer = self.link.taken()
            told += [slot.slot for slot in page["slots"]]
            more = page["more"]
            answer.callback({})
        assert told == list(slots)
        assert self.link.calls == []

    def test_a_discovery_that_failed_tells_why(self):
        """A region that does not know the ticket is not asked again."""
        fault = Fault(ErrorClass.AUTH, "refused")
        self.reporter.found("t1", fault)
        self.clock.advance(GATHER)
        command, arguments, answer = self.link.calls.pop()
        assert (command, arguments["fault"], arguments["more"]) == (Discovered, fault, False)
        answer.errback(BadRequest("no such ticket"))
        self.clock.advance(AGAIN)
        assert self.link.calls == []

    def test_flushing_waits_for_the_last_report(self):
        """Until it is told, or the time is over."""
        assert self.successResultOf(Deferred.fromCoroutine(self.reporter.flush(3.0)))
        self.tell(result())
        flushed = Deferred.fromCoroutine(self.reporter.flush(3.0))
        self.assertNoResult(flushed)
        self.link.taken()[1].callback({})
        assert self.successResultOf(flushed)
        self.tell(result())
        flushed = Deferred.fromCoroutine(self.reporter.flush(3.0))
        self.clock.advance(3.0)
        assert not self.successResultOf(flushed)
