"""Calls and conversation, single-stepped: a hand-run pool, a fake clock, the in-memory driver."""

from attrs import evolve
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from drivers.interfaces import DriverError, Fate
from drivers.memory import MemoryDriver
from rackd.calls import ABORT_AGAIN, Calls
from rackd.conversation import Conversation
from rackd.journal import End, Journal
from rackd.queue import Accepted, Answered, Broke, StartCommand, StartRead
from rackd.terms import terms
from switchgear.power import ErrorClass, Fault, Power, Wish
from tests.rackd.folder import own_folder
from tests.rackd.hand_pool import HandPool
from tests.rackd.values import grant

FOREVER = 1e9


class Tangled:
    """A session that a test makes fail, and that counts what is asked of it."""

    def __init__(self):
        self.error = None
        self.asked = []

    def read(self):
        """Answer or fail."""
        self.asked.append("read")
        if self.error:
            raise self.error
        return {"0": Power.ON}

    def command(self, slot, wish):
        """Accept or fail."""
        self.asked.append((slot, wish))
        if self.error:
            raise self.error

    def close(self):
        """Count."""
        self.asked.append("close")

    def abort(self):
        """Count."""
        self.asked.append("abort")


def read(call=1, limit=5.0):
    """A read."""
    return StartRead(call=call, number=call, limit=limit)


def command(call=1, slot="0"):
    """An off."""
    return StartCommand(call=call, slot=slot, wish=Wish.OFF, limit=5.0, operation=f"1.{call}")


class CallsTests(SynchronousTestCase):
    """One chassis' calls."""

    def setUp(self):
        """A chassis whose session is `self.session`; outcomes are gathered in `self.ended`."""
        self.clock, self.pool, self.session, self.ended = Clock(), HandPool(), Tangled(), []
        self.clock.advance(1000.0)
        self.opened = 0
        self.journal = Journal(own_folder(self) / "journal", "b")
        self.journal.open(0.0)
        self.addCleanup(self.journal.close)
        self.conversation = Conversation("c1", self.terms(), self.journal, self.clock.seconds)
        self.calls = Calls(
            chassis="c1",
            clock=self.clock,
            pool=self.pool,
            conversation=self.conversation,
            ended=lambda call, outcome: self.ended.append((call, outcome)),
        )

    def terms(self, credentials=1):
        """Return terms that open `self.session`."""
        return evolve(terms(grant()), open=self.open, credentials=credentials)

    def open(self):
        """Count the sessions."""
        self.opened += 1
        return self.session

    def test_a_read_is_answered_when_its_thread_returned(self):
        """And not before."""
        self.calls.start(read(), FOREVER)
        assert self.ended == []
        self.pool.run_all()
        assert self.ended == [(1, Answered({"0": Power.ON}))]

    def test_a_chassis_may_call_its_slots_anything(self):
        """What can't be sent to a region, or is endless, is told under a name that can."""
        self.session.read = lambda: {"\ud800": Power.ON, "x" * 70_000: Power.OFF}
        self.calls.start(read(), FOREVER)
        self.pool.run_all()
        [(_, answered)] = self.ended
        assert answered.powers == {"\ufffd": Power.ON, "x" * 199 + "…": Power.OFF}

    def test_calls_run_one_after_the_other_in_one_session(self):
        """The pool gets the next one only when the last one is over."""
        self.calls.start(read(1), FOREVER)
        self.calls.start(command(2), FOREVER)
        self.calls.close_session()
        assert len(self.pool.queued) == 1
        self.pool.run_all()
        assert [call for call, _ in self.ended] == [1, 2]
        assert self.session.asked == ["read", ("0", Wish.OFF), "close"]
        assert (self.opened, self.calls.idle) == (1, True)

    def test_new_credentials_end_the_old_session_first(self):
        """A chassis takes one login."""
        self.calls.start(read(1), FOREVER)
        self.pool.run_all()
        self.conversation.use(self.terms(credentials=2))
        self.calls.start(read(2), FOREVER)
        self.pool.run_all()
        assert self.session.asked == ["read", "close", "read"]
        assert self.opened == 2

    def test_a_command_is_written_down_before_it_is_sent(self):
        """And its end afterwards."""
        told = []
        self.session.command = lambda *_: told.extend(self.journal.left("c1"))
        self.calls.start(command(), FOREVER)
        self.pool.run_all()
        assert [(line.operation, line.end) for line in told] == [("1.1", None)]
        assert self.journal.left("c1")[0].end is End.ACCEPTED
        assert self.ended == [(1, Accepted())]

    def test_a_command_that_cannot_be_written_down_is_not_sent(self):
        """Its fate is certain."""
        self.journal.close()
        full = OSError(28, "No space left on device")

        def fail(_):
            raise full

        self.patch(self.journal, "intend", fail)
        self.patch(self.journal, "ended", lambda *_: None)
        self.calls.start(command(), FOREVER)
        self.pool.run_all()
        ((_, broke),) = self.ended
        assert (broke.fate, broke.fault.kind) == (Fate.NOT_ACCEPTED, ErrorClass.INTERNAL)
        assert "No space left" in broke.fault.text
        assert self.session.asked == []

    def test_a_drivers_error_keeps_its_fault_and_its_fate(self):
        """And the journal knows the fate."""
        fault = Fault(ErrorClass.BUSY, "busy")
        for fate, end in ((Fate.UNKNOWN, End.UNKNOWN), (Fate.NOT_ACCEPTED, End.NOT_ACCEPTED)):
            self.session.error = DriverError(fault, fate)
            self.calls.start(command(), FOREVER)
            self.pool.run_all()
            assert self.ended.pop() == (1, Broke(fault, fate))
            assert self.journal.left("c1")[0].end is end

    def test_a_drivers_defect_is_of_unknown_fate_and_logged_once(self):
        """The chassis' queue goes on."""
        self.session.error = ZeroDivisionError("S3cr-marker")
        self.calls.start(command(), FOREVER)
        self.pool.run_all()
        ((_, broke),) = self.ended
        assert (broke.fate, broke.fault.kind) == (Fate.UNKNOWN, ErrorClass.INTERNAL)
        assert "S3cr-marker" not in broke.fault.text
        assert len(self.flushLoggedErrors(ZeroDivisionError)) == 1

    def test_a_call_is_aborted_at_its_limit_and_keeps_its_place(self):
        """It is over when its thread returned, however late that is; until then nothing else is sent."""

        def hang():
            self.clock.advance(4.9)
            assert self.session.asked == []
            self.clock.advance(0.2)
            assert self.session.asked == ["abort"]
            self.clock.advance(ABORT_AGAIN)
            assert self.session.asked == ["abort", "abort"]
            assert (self.ended, self.pool.queued) == ([], [])
            raise DriverError(Fault(ErrorClass.CONNECTION, "aborted"), Fate.UNKNOWN)

        self.session.read = hang
        self.calls.start(read(1), FOREVER)
        self.calls.start(command(2), FOREVER)
        self.pool.run_next()
        assert [call for call, _ in self.ended] == [1]
        assert len(self.pool.queued) == 1
        self.pool.run_all()
        assert not self.clock.getDelayedCalls()

    def test_waiting_for_a_thread_does_not_count(self):
        """The limit begins when the thread does."""
        self.calls.start(read(), FOREVER)
        self.clock.pump([5.0] * 20)
        assert self.session.asked == []
        self.pool.run_all()
        assert self.ended == [(1, Answered({"0": Power.ON}))]

    def test_a_call_that_would_outlive_the_lease_is_not_made(self):
        """The thread came free too late."""
        self.calls.start(read(), until=self.clock.seconds() + 6.0)
        self.clock.advance(2.0)
        self.pool.run_all()
        ((_, broke),) = self.ended
        assert (broke.fate, self.opened) == (Fate.NOT_ACCEPTED, 0)


class TermsTests(SynchronousTestCase):
    """How to speak to a chassis."""

    def test_a_driver_in_memory_is_opened_with_its_settings(self):
        """And its limits are the driver's."""
        how = terms(grant("terms-1"))
        assert how.limits == MemoryDriver().limits({})
        assert set(how.open().read().values()) == {Power.OFF}

    def test_an_unknown_driver_fails_each_call_with_a_clear_fault(self):
        """It does not fail the lease."""
        with self.assertRaises(DriverError) as caught:
            terms(grant(driver="toaster")).open()
        assert caught.exception.fault.kind is ErrorClass.SETTINGS
        assert "toaster" in caught.exception.fault.text
        assert caught.exception.fate is Fate.NOT_ACCEPTED
