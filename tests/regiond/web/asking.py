"""A web server in memory: its real HTTP parser, over a record that answers what a test says."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from regiond.hub import Hub
from regiond.web.site import WebSite, web_site

HOST = "127.0.0.1:5240"
#: What the page sends with a request that changes something.
MARKED = {"X-Switchgear": "1", "Content-Type": "application/json"}


class FakeRecord:
    """Answers steps of `reading` from a table: a value, an error to raise, or a function to call."""

    def __init__(self, answers: Mapping[Callable[..., Any], Any] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: list[tuple[str, tuple[Any, ...]]] = []

    def run(self, f: Callable[..., Any], *arguments: Any) -> "Deferred[Any]":
        self.asked.append((f.__name__, arguments))
        return maybeDeferred(self._answer, self.answers[f], arguments)

    @staticmethod
    def _answer(answer: Any, arguments: tuple[Any, ...]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer(*arguments) if callable(answer) else answer


@frozen
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


def site(record: Any, *names: str) -> WebSite:
    """Build a site on a clock that stands still."""
    return web_site(record, Hub(), Clock(), names)


def request(
    built: WebSite,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """Send one request through the real parser and return the answer; a Host header unless one is given."""
    transport = StringTransport(hostAddress=IPv4Address("TCP", "127.0.0.1", 5240))
    protocol: Any = built.buildProtocol(IPv4Address("TCP", "127.0.0.1", 40_000))
    protocol.makeConnection(transport)
    sent = {"Host": HOST, "Content-Length": str(len(body)), **(headers or {})}
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in sent.items() if v), "", ""]
    protocol.dataReceived("\r\n".join(lines).encode() + body)
    head, _, rest = transport.value().partition(b"\r\n\r\n")
    first, *others = head.decode().split("\r\n")
    pairs = [line.partition(": ") for line in others]
    return Answer(int(first.split()[1]), {k.lower(): v for k, _, v in pairs}, _whole(rest, pairs))


def _whole(rest: bytes, pairs: list[tuple[str, str, str]]) -> bytes:
    """Return a body without the sizes of its chunks."""
    if ("transfer-encoding", "chunked") not in [(k.lower(), v.lower()) for k, _, v in pairs]:
        return rest
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body
