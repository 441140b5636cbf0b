"""What open pages are told, on a fake clock."""

from typing import Any

import pytest
from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from regiond.hub import Hub
from regiond.web import reading
from regiond.web.broadcast import BEAT, STREAMS, Broadcast
from regiond.web.framing import Mark, frame
from regiond.web.reading import Beginning, Change, Part
from regiond.web.stream import SLOW
from switchgear.errors import TryAgain
from switchgear.power import ErrorClass, Fault
from switchgear.wire.client import ChassisView
from tests.regiond.web.asking import FakeRecord

CHASSIS = ChassisView(
    name="sm-1", driver="memory", settings={}, secrets_set=[], credentials=1, nodes=2
)


class FakeRequest:
    """What a stream writes to."""

    def __init__(self) -> None:
        self.transport = self
        self.written = b""
        self.aborted = False
        self.producer: Any = None

    def setHeader(self, name: str, value: str) -> None:
        pass

    def write(self, data: bytes) -> None:
        self.written += data

    def registerProducer(self, producer: Any, streaming: bool) -> None:
        self.producer = producer

    def unregisterProducer(self) -> None:
        self.producer = None

    def abortConnection(self) -> None:
        self.aborted = True

    def told(self, event: str) -> int:
        """Count the events of a name."""
        return self.written.count(f"event: {event}\n".encode())


class Stage:
    """A broadcast over a record in which a test lets things change."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.hub = Hub()
        self.now = 5
        self.health = [CHASSIS]
        self.record = FakeRecord(
            {
                reading.begin: self._begin,
                reading.snapshot: self._snapshot,
                reading.changes: self._changes,
                reading.health: lambda: self.health,
            }
        )
        self.broadcast = Broadcast(self.clock, self.record, self.hub)
        self.broadcast.start()
        self.served: list[Deferred[None]] = []

    def _begin(self, last: str) -> Beginning:
        mark = Mark.parse(last)
        return Beginning(mark=mark or Mark(1, str(self.now)), resumed=mark is not None)

    @staticmethod
    def _snapshot(mark: Mark, after: str) -> Part:
        last = after == "n2"
        return Part(frame("snapshot", b"{}", mark if last else None), None if last else "n2")

    def _changes(self, mark: Mark) -> Change:
        frames = [frame("nodes", b'{"since":%s}' % mark.cursor.encode(), Mark(1, str(self.now)))]
        return Change(
            mark=Mark(1, str(self.now)),
            frames=frames if int(mark.cursor) < self.now else [],
            of_chassis=False,
        )

    def page(self, last: str = "") -> FakeRequest:
        """Open a page."""
        request = FakeRequest()
        self.served.append(Deferred.fromCoroutine(self.broadcast.serve(request, last)))
        self.look()
        return request

    def change(self) -> None:
        """Let something change, and the hint of it arrive."""
        self.now += 1
        self.hub.hint()
        self.look()

    def look(self, seconds: float = 0.5) -> None:
        for _ in range(int(seconds * 10)):
            self.clock.advance(0.1)

    def end(self) -> None:
        """Stop, and see that nothing is left."""
        stopping = Deferred.fromCoroutine(self.broadcast.stop())
        self.look(6.0)
        assert stopping.called
        assert self.clock.getDelayedCalls() == []


@pytest.fixture
def stage() -> Any:
    """A broadcast that is stopped at the end, with nothing left of it."""
    stage = Stage()
    yield stage
    stage.end()


def test_a_new_page(stage: Stage) -> None:
    """A new page gets all nodes in parts, then the chassis, then what changes."""
    page = stage.page()
    assert page.written.startswith(b"retry: 2000\n\nevent: snapshot\ndata: {}\n\nid: 1.5\n")
    assert (page.told("snapshot"), page.told("chassis"), page.told("nodes")) == (2, 1, 0)
    stage.change()
    assert page.written.endswith(b'id: 1.6\nevent: nodes\ndata: {"since":5}\n\n')


def test_a_page_that_comes_back(stage: Stage) -> None:
    """A page that was cut off gets what changed since, and no snapshot."""
    page = stage.page(last="1.3")
    assert (page.told("snapshot"), page.written.count(b'{"since":3}')) == (0, 1)


def test_one_look_for_all(stage: Stage) -> None:
    """Pages that stand at the same place cost one look together."""
    pages = [stage.page() for _ in range(3)]
    before = [name for name, _ in stage.record.asked].count("changes")
    stage.now += 1
    stage.hub.hint()
    stage.look(0.3)
    assert [name for name, _ in stage.record.asked].count("changes") - before <= 2
    assert [page.told("nodes") for page in pages] == [1, 1, 1]


def test_nobody_there(stage: Stage) -> None:
    """Without a page the record is not asked at all."""
    stage.change()
    assert stage.record.asked == []


def test_a_slow_page(stage: Stage) -> None:
    """A slow page is told less often, misses nothing, and holds up no other one."""
    slow, other = stage.page(), stage.page()
    slow.producer.pauseProducing()
    stage.change()
    stage.change()
    assert (slow.told("nodes"), other.told("nodes")) == (0, 2)
    slow.producer.resumeProducing()
    stage.look(3.0)
    assert (slow.told("nodes"), slow.written.count(b'{"since":5}')) == (1, 1)


def test_a_stuck_page(stage: Stage) -> None:
    """A page that takes nothing is cut off."""
    page = stage.page()
    page.producer.pauseProducing()
    stage.look(SLOW - BEAT)
    assert not page.aborted
    stage.look(2 * BEAT + 1)
    assert page.aborted


def test_signs_of_life(stage: Stage) -> None:
    """A quiet stream gives signs of life."""
    page = stage.page()
    stage.look(2 * BEAT + 1)
    assert page.told("beat") == 2


def test_health(stage: Stage) -> None:
    """A fault of a chassis is told once, and not again when only its age grew."""
    page = stage.page()
    fault = Fault(ErrorClass.AUTH, "wrong password")
    stage.health = [evolve(CHASSIS, fault=fault, fault_age=1.0)]
    stage.look(3.0)
    assert (page.told("chassis"), b"wrong password" in page.written) == (2, True)
    stage.health = [evolve(CHASSIS, fault=fault, fault_age=4.0)]
    stage.look(3.0)
    assert page.told("chassis") == 2


def test_the_record_is_away(stage: Stage) -> None:
    """While the record can't be read pages are told so, once, and told when it can again."""
    page = stage.page()
    stage.record.answers[reading.changes] = TryAgain("PostgreSQL is away")
    stage.look(8.0)
    assert (page.told("trouble"), b"PostgreSQL is away" in page.written) == (1, True)
    stage.record.answers[reading.changes] = stage._changes
    stage.look(8.0)
    assert page.told("trouble") == 2
    assert b'event: trouble\ndata: {"text":""}' in page.written


def test_a_snapshot_cut_short(stage: Stage) -> None:
    """A stream whose snapshot can't be read ends, so that the page comes back."""
    stage.record.answers[reading.snapshot] = TryAgain("away")
    page = stage.page()
    assert stage.served[0].called
    assert page.producer is None


def test_no_record_at_first(stage: Stage) -> None:
    """A page that comes while the record is away gets the error, and no stream."""
    stage.record.answers[reading.begin] = TryAgain("away")
    page = stage.page()
    stage.served[0].addErrback(lambda failure: failure.trap(TryAgain))
    assert page.written == b""


def test_too_many_pages(stage: Stage) -> None:
    """Streams are bounded, and a page that leaves makes room."""
    for _ in range(STREAMS):
        stage.served.append(Deferred.fromCoroutine(stage.broadcast.serve(FakeRequest(), "")))
    refused = Deferred.fromCoroutine(stage.broadcast.serve(FakeRequest(), ""))
    assert refused.called
    refused.addErrback(lambda failure: failure.trap(TryAgain))
    first = stage.served[0]
    first.addErrback(lambda failure: None)
    first.cancel()
    page = stage.page()
    assert page.told("snapshot") == 2
