"""python-seamicroclient's HTTP client, made fit for use: what is changed, and why, is in a decision.

The library builds the requests; here they are sent. Differences: one connection that is kept, never a
repeat, a limit for every wait, credentials encoded, no environment, no redirects, a bounded answer,
no URL kept or logged, and an abort from another thread.
"""

import json
import logging
import re
import socket
import threading
import time
from typing import Any, Protocol
from urllib.parse import quote

import requests
from requests.adapters import HTTPAdapter
from seamicroclient.client import HTTPClient
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from drivers.interfaces import Fate
from drivers.seamicro.failing import failed, from_body, from_exception, from_status
from switchgear.power import ErrorClass
from switchgear.secret import Secret

#: Seconds to wait for a connection, and most bytes of an answer (64 servers need about 200 kB).
CONNECT_LIMIT = 5.0
BODY_LIMIT = 8_000_000

_CREDENTIALS = re.compile(r"(username|password)=[^&\s\"]*")


class Transport(HTTPClient):  # type: ignore[misc] # the library is untyped
    """Sends the library's requests for one session. Raises only DriverError."""

    def __init__(self, url: str, user: str, password: Secret, verify: str, limit: float) -> None:
        super().__init__(
            quote(user, safe=""), "", auth_url=url.rstrip("/"), timeout=limit, retries=0
        )
        self.api_endpoint = self.auth_url
        self._plain_user = user
        self._secret = password
        self._sockets = Sockets()
        self._session = _session(verify, self._sockets)
        _silence()

    def _cs_request(self, url: str, method: str, **kwargs: Any) -> tuple[Any, Any]:
        """Send one request, once. Credentials go where v2.0 wants them: query of a GET, else the body."""
        if method in ("GET", "DELETE"):
            password = quote(self._secret.reveal(), safe="")
            url = f"{url}?username={self.user}&password={password}"
        else:
            credentials = {"username": self._plain_user, "password": self._secret.reveal()}
            kwargs["body"] = {**(kwargs.get("body") or {}), **credentials}
        return self.request(self.api_endpoint + url, method, **kwargs)

    def request(self, url: str, method: str, **kwargs: Any) -> tuple[Any, Any]:
        """Return the response and its parsed body (None if empty, text if it is not JSON)."""
        try:
            response, text = self._send(url, method, kwargs.get("body"))
        except Exception as error:  # noqa: BLE001 # whatever it is becomes the error class of this call
            problem = from_exception(error, float(self.timeout))
        else:
            body = _parse(text)
            found = from_status(response.status_code) or from_body(body)
            if found is None:
                return response, body
            problem = found
        # Raised out here, so that the library's error, which holds the URL, is not its context.
        raise problem

    def _send(self, url: str, method: str, body: object) -> tuple[requests.Response, str]:
        deadline = time.monotonic() + self.timeout
        headers = {"User-Agent": self.USER_AGENT, "Accept": "application/json"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode("ascii")
        with self._session.request(
            method,
            url,
            data=data,
            headers=headers,
            timeout=(min(CONNECT_LIMIT, self.timeout), self.timeout),
            allow_redirects=False,
            stream=True,
        ) as response:
            return response, _bounded(response, deadline)

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
        self._sockets.shut()

    def abort(self) -> None:
        """Cut the connection under a call in progress, and allow no other. Any thread."""
        self._sockets.abort()


class Sockets:
    """The sockets of a session, so that another thread can cut them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._live: list[socket.socket] = []
        self._aborted = False

    def note(self, sock: socket.socket | None) -> None:
        """Remember a socket that was just connected. Raises OSError if the session was aborted."""
        with self._lock:
            if sock is not None:
                self._live = [s for s in self._live if s.fileno() >= 0] + [sock]
            if self._aborted:
                raise ConnectionAbortedError("the session was aborted")

    def abort(self) -> None:
        """Shut every socket now and every later one as soon as it is connected."""
        with self._lock:
            self._aborted = True
        self.shut()

    def shut(self) -> None:
        """Shut every socket: a thread that waits for it wakes up."""
        with self._lock:
            live, self._live = self._live, []
        for sock in live:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it was closed already, which is what we want


class _Noted(Protocol):
    """A urllib3 connection while it connects."""

    sock: socket.socket | None


def _session(verify: str, sockets: Sockets) -> requests.Session:
    session = requests.Session()
    # No proxy, no .netrc and no CA bundle from whatever environment the daemon was started in.
    session.trust_env = False
    session.verify = {"on": True, "off": False}.get(verify, verify)
    adapter = _Adapter(sockets)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


class _Adapter(HTTPAdapter):
    """One connection, no retries, and each new socket is noted."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0, pool_block=True)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _pools(self._sockets)


def _pools(sockets: Sockets) -> dict[str, type[HTTPConnectionPool]]:
    """Build pool classes whose connections note their sockets."""

    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            sockets.note(self.sock)

    class Encrypted(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            sockets.note(self.sock)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    return {"http": PlainPool, "https": EncryptedPool}


def _bounded(response: requests.Response, deadline: float) -> str:
    """Read the answer; undecodable bytes are shown replaced."""
    chunks, size = [], 0
    # One system call at a time: a larger read waits until it is full, which a drip makes for ever.
    while chunk := response.raw.read1(65_536, decode_content=True):
        chunks.append(chunk)
        size += len(chunk)
        if size > BODY_LIMIT:
            raise failed(
                ErrorClass.CONNECTION, "the answer is longer than any real one", Fate.UNKNOWN
            )
        if time.monotonic() > deadline:
            raise requests.exceptions.ReadTimeout
    return b"".join(chunks).decode("utf-8", "replace")


def _parse(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _silence() -> None:
    """Take the credentials out of what urllib3 logs at DEBUG (the path with its query)."""
    logger = logging.getLogger("urllib3.connectionpool")
    if not any(isinstance(known, _NoCredentials) for known in logger.filters):
        logger.addFilter(_NoCredentials())


class _NoCredentials(logging.Filter):
    """Replaces credentials in a log record's arguments."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                _CREDENTIALS.sub(r"\1=***", arg) if isinstance(arg, str) else arg
                for arg in record.args
            )
        return True
