"""The web server of a region: who may ask, how much, and what is noted of it."""

from collections.abc import Iterable
from typing import Any

from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site

from regiond.web.answers import refuse
from regiond.web.broadcast import Broadcast
from regiond.web.guard import MARK, Asked, refusal
from regiond.web.routes import resource
from regiond.web.static import HEADERS
from switchgear.errors import BadRequest

#: Bytes of a request's body at most, and seconds that a connection may be idle.
BODY_LIMIT, IDLE = 65_536, 60.0

_log = Logger(namespace="regiond.web")
_TOO_LARGE = b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def web_site(
    database: Any, hub: Any, reactor: IReactorTime, names: Iterable[str] = ()
) -> "WebSite":
    """Build the web server. `database` has `run(f, *args)`, `hub` has `subscribe(look)`.

    `names`: host names that browsers may call it by, besides `localhost` and its own addresses. It works
    from when it listens until the port is closed.
    """
    broadcast = Broadcast(reactor, database, hub)
    inner = resource(database, broadcast)
    allowed = frozenset(name.strip().lower() for name in names)
    return WebSite(Guarded(inner, allowed), broadcast, reactor)


class Guarded(Resource):
    """Passes on to `inner` what `guard` lets through, with our headers on every answer."""

    isLeaf = True

    def __init__(self, inner: IResource, names: frozenset[str]) -> None:
        super().__init__()
        self._inner = inner
        self._names = names

    def render(self, request: Any) -> Any:
        """Answer, or refuse."""
        for name, value in HEADERS.items():
            request.setHeader(name, value)
        no = refusal(_asked(request), self._names)
        if no is None:
            return self._inner.render(request)
        return refuse(request, no.status, no.text, BadRequest.code)


class BoundedRequest(Request):
    """A request whose body has a limit; one that exceeds it is cut off while it is still being sent."""

    _received = 0

    def handleContentChunk(self, data: bytes) -> None:
        """Take a part of the body."""
        before = self._received
        self._received += len(data)
        if self._received <= BODY_LIMIT:
            super().handleContentChunk(data)
        elif before <= BODY_LIMIT:
            transport: Any = self.transport
            transport.write(_TOO_LARGE)
            transport.loseConnection()

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """Work on the request, unless it was too large."""
        if self._received <= BODY_LIMIT:
            super().requestReceived(command, path, version)


class WebSite(Site):
    """The server. It notes changes and failures, and never what stands behind a `?`."""

    def __init__(self, root: Resource, broadcast: Broadcast, reactor: IReactorTime) -> None:
        super().__init__(root, requestFactory=BoundedRequest, timeout=IDLE, reactor=reactor)
        self.stopped: Deferred[None] = succeed(None)
        self._broadcast = broadcast

    def startFactory(self) -> None:
        """Begin to follow the record; called when the port opens."""
        super().startFactory()
        self._broadcast.start()

    def stopFactory(self) -> None:
        """End every stream; called when the port closes. `stopped` fires when all has ended."""
        super().stopFactory()
        self.stopped = Deferred.fromCoroutine(self._broadcast.stop())
        self.stopped.addErrback(
            lambda failure: _log.failure("the web server ended badly", failure=failure)
        )

    def log(self, request: Any) -> None:
        """Note a request that changed something or failed."""
        if request.method == b"POST" or request.code >= 500:
            _log.info(
                "{method} {path} {code}",
                method=request.method.decode("ascii", "replace"),
                path=request.path.decode("ascii", "replace")[:200],
                code=request.code,
            )


def _asked(request: Any) -> Asked:
    return Asked(
        method=request.method.decode("ascii", "replace"),
        path=request.path.decode("ascii", "replace"),
        local=str(getattr(request.getHost(), "host", "")),
        host=request.getHeader("Host"),
        origin=request.getHeader("Origin"),
        fetch_site=request.getHeader("Sec-Fetch-Site"),
        mark=request.getHeader(MARK),
        content_type=request.getHeader("Content-Type"),
    )
