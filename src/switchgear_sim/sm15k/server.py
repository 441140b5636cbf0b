"""The HTTP shell: one site for the chassis' REST API and one for the judge's side port."""

import json
from collections.abc import Callable
from time import monotonic
from typing import Any

from attrs import asdict
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import connectionDone
from twisted.internet.task import deferLater
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site

from switchgear_sim.sm15k.audit import Entry
from switchgear_sim.sm15k.chassis import Execution, Reply, SimulatedChassis


class _Channel(HTTPChannel):
    """A connection that has a number and tells when it closed."""

    number = 0
    closed: Callable[[int], None]

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.closed(self.number)
        super().connectionLost(reason)


class RestApi(Resource):
    """Answers for the chassis. Every path goes to one place: the model decides."""

    isLeaf = True

    def __init__(self, chassis: SimulatedChassis, reactor: IReactorTime) -> None:
        super().__init__()
        self._chassis = chassis
        self._reactor = reactor

    def render(self, request: Request) -> int:
        """Take a request, work on it for its service time, and answer (or not)."""
        if self._chassis.knobs.frozen:
            return NOT_DONE_YET
        number = getattr(request.channel, "number", 0)
        begun = self._chassis.begin(
            monotonic(),
            number,
            request.method.decode("ascii", "replace"),
            request.uri.decode("latin-1"),
            request.content.read() if request.content is not None else b"",
        )
        if isinstance(begun, Reply):
            self._answer(request, begun)
        else:
            deferLater(self._reactor, begun.service, self._finish, request, begun)
        return NOT_DONE_YET

    def _finish(self, request: Request, execution: Execution) -> None:
        self._answer(request, self._chassis.finish(monotonic(), execution))

    def _answer(self, request: Request, reply: Reply) -> None:
        if request.channel is None or request._disconnected:  # no public name for it
            return
        if reply.status is None:
            request.channel.loseConnection()
            request.channel.forceAbortClient()
            return
        request.setResponseCode(reply.status)
        if reply.status != 204:
            request.setHeader(b"content-length", str(len(reply.body)).encode())
            request.write(reply.body)
        request.finish()


class QuietSite(Site):
    """A site without an access log: the audit is the log, and paths hold passwords."""

    def log(self, request: Any) -> None:
        """Write nothing."""


class RestPort:
    """The chassis' port: numbers its connections, and can be closed and opened again."""

    def __init__(self, chassis: SimulatedChassis, reactor: Any, host: str, port: int) -> None:
        self._chassis = chassis
        self._reactor = reactor
        self._host = host
        self._channels: dict[int, _Channel] = {}
        self._numbers = 0
        self._site: Any = QuietSite(RestApi(chassis, reactor), timeout=3600)
        self._site.protocol = self._channel  # type: ignore[method-assign,assignment] # Twisted's own way
        self._listening: Any = None
        self.port = port
        self._open()

    def _open(self) -> None:
        self._listening = self._reactor.listenTCP(self.port, self._site, interface=self._host)
        self.port = self._listening.getHost().port

    def _channel(self) -> _Channel:
        channel = _Channel()
        self._numbers += 1
        channel.number = self._numbers
        channel.closed = self._closed
        self._channels[channel.number] = channel
        return channel

    def _closed(self, number: int) -> None:
        self._channels.pop(number, None)
        self._chassis.sessions.closed(number)

    def drop_all(self) -> None:
        """End every connection, as a reboot does."""
        for channel in list(self._channels.values()):
            channel.forceAbortClient()

    def turn(self, changes: dict[str, Any]) -> None:
        """Turn knobs, and do what they mean for the port."""
        before = self._chassis.knobs
        knobs = self._chassis.knobs = before.changed(changes)
        if knobs.refuse and self._listening is not None:
            self._listening.stopListening()
            self._listening = None
            self.drop_all()
        elif not knobs.refuse and self._listening is None:
            self._open()
        if before.frozen and not knobs.frozen:
            self.drop_all()


class SidePort(Resource):
    """The judge's side port: JSON in and out. ``/truth``, ``/act``, ``/log``, ``/knobs``, ``/drop``."""

    isLeaf = True

    def __init__(self, chassis: SimulatedChassis, rest: RestPort, reactor: IReactorTime) -> None:
        super().__init__()
        self._chassis = chassis
        self._rest = rest
        self._reactor = reactor

    def render(self, request: Request) -> bytes:
        """Answer one question or carry out one order."""
        request.setHeader(b"content-type", b"application/json")
        content = request.content.read() if request.content is not None else b""
        try:
            answer = self._act(request, json.loads(content) if content else {})
        except (ValueError, KeyError, TypeError) as error:
            request.setResponseCode(400)
            answer = {"error": str(error)}
        return json.dumps(answer).encode() + b"\n"

    def _act(self, request: Request, body: dict[str, Any]) -> Any:
        chassis, now = self._chassis, monotonic()
        match request.method, request.path:
            case b"GET", b"/truth":
                return chassis.truth(now)
            case b"POST", b"/truth":
                for slot, active in body.items():
                    chassis.model.force(slot, bool(active), now)
                return chassis.truth(now)
            case b"GET", b"/act":
                return chassis.figures(now)
            case b"POST", b"/act":
                chassis.start_act(str(body.get("name", "")), now)
                return chassis.figures(now)
            case b"GET", b"/log":
                after = int((request.args or {}).get(b"after", [b"0"])[0])
                return [_plain(e) for e in chassis.log if e.number > after]
            case b"POST", b"/knobs":
                self._rest.turn(body)
                return {"turned": sorted(body)}
            case b"POST", b"/drop":
                self._rest.drop_all()
                return {}
        raise ValueError("no such page; there are /truth, /act, /log, /knobs and /drop")


def _plain(entry: Entry) -> dict[str, Any]:
    """Return a log entry without the shown states, which would make a log of megabytes."""
    fields = asdict(entry)
    shown = fields.pop("shown")
    return {**fields, "on": sum(shown.values()) if shown is not None else None}
