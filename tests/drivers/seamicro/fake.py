"""An HTTP server for odd answers: it plays a script of replies and records what it received."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attrs import define, field

#: A reply acts on the handler; `json_reply` and the others below build the usual ones.
Reply = Callable[["Handler"], None]


@define
class Received:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


@define
class Fake:
    """The script and the record. The last reply of the script is played for ever."""

    replies: list[Reply]
    received: list[Received] = field(factory=list)
    connections: int = 0
    port: int = 0
    release: threading.Event = field(factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v2.0"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: Fake

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many of these tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        self.server.fake.connections += 1

    def answer(self) -> None:
        fake = self.server.fake
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length)
        parts = urlsplit(self.path)
        fake.received.append(
            Received(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query, keep_blank_values=True)),
                json.loads(text) if text else None,
                dict(self.headers),
            )
        )
        reply = fake.replies.pop(0) if len(fake.replies) > 1 else fake.replies[0]
        reply(self)

    do_GET = answer
    do_PUT = answer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 # the base class names it
        """Say nothing: the record is the log."""


def text_reply(status: int, text: str | bytes, **headers: str) -> Reply:
    """Answer with a status and a body."""
    raw = text.encode() if isinstance(text, str) else text

    def play(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        if status not in (204, 304):
            handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        if status not in (204, 304):
            handler.wfile.write(raw)

    return play


def json_reply(value: object, status: int = 200) -> Reply:
    """Answer with JSON."""
    return text_reply(status, json.dumps(value))


def drop(handler: Handler) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def hang(handler: Handler) -> None:
    """Never answer, until the test ends."""
    handler.server.fake.release.wait(30)
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """Answer one byte at a time, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.server.fake.release.wait(0.05):
        handler.wfile.write(b" ")
    handler.close_connection = True


def endless(handler: Handler) -> None:
    """Answer more than any real chassis would."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(10**9))
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b" " * 100_000)
    handler.close_connection = True


@contextmanager
def playing(*replies: Reply) -> Iterator[Fake]:
    """Serve the script on a free port of 127.0.0.1."""
    fake = Fake(list(replies))
    with Server(("127.0.0.1", 0), Handler) as server:
        server.fake = fake
        fake.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield fake
        finally:
            fake.release.set()
            server.shutdown()
            thread.join()
