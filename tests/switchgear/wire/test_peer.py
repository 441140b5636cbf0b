"""A peer answers every call, whatever went wrong in it, and one bad call is only one bad call."""

from typing import Any, ClassVar

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.protocols import amp

from switchgear.errors import BadRequest, Bug, Conflict
from switchgear.power import TEXT_LIMIT, Power
from switchgear.wire.arguments import fields, from_json, to_json
from switchgear.wire.errors import AMP_ERRORS
from switchgear.wire.peer import PING_EVERY, PING_LIMIT, Peer


class Ask(amp.Command):
    """A call of the tests."""

    arguments: ClassVar = fields(what=str)
    response: ClassVar = fields(what=str)
    errors = AMP_ERRORS


class Answering(Peer):
    """Does what it is asked to."""

    @Ask.responder
    def ask(self, what: str) -> dict[str, object]:
        """Answer, or fail."""
        match what:
            case "conflict":
                raise Conflict("no " * 100_000)
            case "bug":
                raise KeyError("inside")
            case "long":
                return {"what": "x" * 70_000}
            case _:
                return {"what": what}


class Wire(StringTransport):
    """A transport whose abort is seen."""

    def abortConnection(self) -> None:
        """Note it."""
        self.disconnecting = True


class Pair:
    """Two peers and what is between them."""

    def __init__(self) -> None:
        self.asking, self.answering = Peer(), Answering()
        self.there, self.back = Wire(), Wire()
        self.asking.makeConnection(self.there)
        self.answering.makeConnection(self.back)

    def ask(self, what: str) -> Any:
        """Make a call and return its outcome."""
        outcome: list[Any] = []
        call: Deferred[Any] = self.asking.callRemote(Ask, what=what)
        call.addBoth(outcome.append)
        self.answering.dataReceived(self.there.value())
        self.there.clear()
        self.asking.dataReceived(self.back.value())
        self.back.clear()
        return outcome[0]

    @property
    def up(self) -> bool:
        """Whether nobody has ended the link."""
        return not (self.there.disconnecting or self.back.disconnecting)


@pytest.mark.parametrize(("what", "kind"), [("conflict", Conflict), ("bug", Bug), ("long", Bug)])
def test_a_failed_call_is_only_one_failed_call(what: str, kind: type[Exception]) -> None:
    """Declared, undeclared, or too long to be sent: the next call is answered."""
    pair = Pair()
    failure = pair.ask(what)
    assert failure.check(kind)
    assert len(str(failure.value)) <= TEXT_LIMIT
    assert pair.up
    assert pair.ask("hello") == {"what": "hello"}


def test_half_a_surrogate_pair_is_no_reason_to_keep_a_message_back() -> None:
    """A chassis' JSON can hold one; it arrives as a question mark."""
    assert Pair().ask("a\ud800b") == {"what": "a?b"}
    assert from_json(list[str], to_json(["\ud800", "\U0001f600"])) == ["?", "\U0001f600"]


@pytest.mark.parametrize("text", [b"", b"[", b"{}", b"7", b"null", b'"of"', b"\xff", b"[[[["])
def test_what_does_not_fit_is_a_bad_request(text: bytes) -> None:
    """And its text is not repeated."""
    with pytest.raises(BadRequest, match="does not fit"):
        from_json(Power, text)


def test_a_silent_peer_is_noticed() -> None:
    """A ping that stays unanswered ends the link; one that is answered does not."""
    pair, clock = Pair(), Clock()
    pair.asking.start_pings(clock)
    clock.advance(PING_EVERY)
    pair.answering.dataReceived(pair.there.value())
    pair.asking.dataReceived(pair.back.value())
    for _ in range(int(PING_LIMIT / PING_EVERY)):
        clock.advance(PING_EVERY)
        assert pair.up
    clock.advance(PING_EVERY)
    assert not pair.up
