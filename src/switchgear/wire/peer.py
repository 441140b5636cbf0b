"""One side of a link: an AMP protocol whose calls can fail one by one, and that notices a dead peer.

An undeclared exception makes plain AMP drop the link with every call in flight, and a call on a link
whose other side vanished waits for ever (both measured). A `Peer` answers every call, and closes the
link when a ping is not answered in time, which fails the calls in flight with ConnectionLost.
"""

from typing import Any, ClassVar, cast

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime, ITCPTransport
from twisted.internet.protocol import connectionDone
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from twisted.protocols import amp
from twisted.python.failure import Failure

from switchgear import errors
from switchgear.power import cut
from switchgear.wire.arguments import fields
from switchgear.wire.errors import AMP_ERRORS

#: Seconds between two pings, and how long one may stay unanswered before the link is closed.
PING_EVERY = 5.0
PING_LIMIT = 15.0


class Ping(amp.Command):
    """Answered at once by either side. A link whose ping is not answered in time is closed."""

    arguments: ClassVar = fields()
    response: ClassVar = fields()
    errors = AMP_ERRORS


class Peer(amp.AMP):
    """Base of every protocol of ours. `start_pings` once the link is up; responders may be ``async``."""

    _log = Logger(namespace="switchgear.wire")
    _pings: LoopingCall | None = None
    _unanswered_since: float | None = None

    def dispatchCommand(self, box: amp.AmpBox) -> Deferred[amp.AmpBox]:
        """Run the responder; whatever goes wrong in it fails this call and nothing else."""
        answer: Deferred[amp.AmpBox] = super().dispatchCommand(box)
        answer.addCallback(self._sendable)
        answer.addErrback(self._told, box.get(amp.COMMAND, b"?").decode("ascii", "replace"))
        return answer

    def _sendable(self, answer: Any) -> Any:
        """Make sure that the answer fits into AMP now, where it can still become an error."""
        if isinstance(answer, amp.AmpBox):
            answer.serialize()
        return answer

    def _told(self, failure: Failure, command: str) -> Failure:
        """Make a failure tellable: known errors by their code, all others as a Bug of this call."""
        error = failure.value
        if isinstance(error, amp.RemoteAmpError) and not error.fatal:
            # AMP made it of a declared error, and puts no limit on its text; the link would end of it.
            error.description = cut(error.description)
            return failure
        if isinstance(error, errors.SwitchgearError):
            code, text = error.code, cut(str(error))
        else:
            self._log.failure("{command} failed", failure=failure, command=command)
            code, text = errors.Bug.code, f"{command} failed: {type(error).__name__}; see the log"
        return Failure(amp.RemoteAmpError(code.encode("ascii"), text, local=failure))

    @Ping.responder
    def _ping(self) -> dict[str, object]:
        return {}

    def start_pings(self, clock: IReactorTime) -> None:
        """Ask the other side for a sign of life every `PING_EVERY` seconds, until the link ends."""
        self._clock = clock
        self._pings = LoopingCall(self._check)
        self._pings.clock = clock
        self._pings.start(PING_EVERY, now=False)

    def _check(self) -> None:
        if self._unanswered_since is None:
            self._unanswered_since = self._clock.seconds()
            self.callRemote(Ping).addCallbacks(self._answered, lambda _: None)
        elif self._clock.seconds() - self._unanswered_since >= PING_LIMIT:
            self._log.warn("no sign of life for {limit} s: closing the link", limit=PING_LIMIT)
            self.close()

    def close(self) -> None:
        """End the link now; calls in flight fail with ConnectionLost."""
        if self.transport is not None:
            cast(ITCPTransport, self.transport).abortConnection()

    def _answered(self, _: object) -> None:
        self._unanswered_since = None

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Stop the pings and fail what is in flight."""
        if self._pings is not None and self._pings.running:
            self._pings.stop()
        super().connectionLost(reason)
