"""One simulated chassis: takes requests one at a time, executes them badly, and writes it all down.

Time, chance and the waiting are arguments; the HTTP shell only carries texts. A request is executed to
its end even if its client has gone, as real hardware does, and refuses others meanwhile.
"""

import json
from collections import deque
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

from attrs import define, field, frozen

from switchgear_sim.sm15k.audit import BROKEN, Entry, figures
from switchgear_sim.sm15k.deck import Deck, FaultKind
from switchgear_sim.sm15k.knobs import Knobs, Range
from switchgear_sim.sm15k.model import Model, Transition
from switchgear_sim.sm15k.sessions import Sessions

#: Log entries that are kept.
LOG_LIMIT = 100_000


@frozen
class Reply:
    """What goes back to the client: None as status means that the connection just ends."""

    status: int | None
    body: bytes = b""


@frozen(kw_only=True)
class Query:
    """A request, understood. `wish` is None for a read; `error` is the status of one that is wrong."""

    method: str
    path: str
    slot: str | None = None
    wish: bool | None = None
    error: int | None = None
    authentic: bool = True


@define
class Execution:
    """A request that the chassis works on."""

    query: Query
    connection: int
    started: float
    service: float
    fault: FaultKind | None


@define
class SimulatedChassis:
    """The chassis behind the HTTP shell. Call `begin` for each request, wait, then `finish`."""

    knobs: Knobs
    chance: Random
    model: Model
    sessions: Sessions = field(factory=Sessions)
    log: deque[Entry] = field(factory=lambda: deque(maxlen=LOG_LIMIT))
    executing: Execution | None = None
    numbers: int = 0
    act: str = ""
    _deck: Deck = field(init=False)
    _act_from: int = 0
    _transitions_from: int = 0

    def __attrs_post_init__(self) -> None:
        self._deck = Deck(self.chance)

    def begin(
        self, now: float, connection: int, method: str, uri: str, body: bytes
    ) -> Execution | Reply:
        """Start on a request, or refuse it at once because another one is executed."""
        query = understand(method, uri, body, self.knobs)
        if query.authentic:
            self.sessions.logged_in(connection)
        if self.executing is not None:
            self.sessions.in_execution_most = max(self.sessions.in_execution_most, 2)
            self._write(query, 503, connection=connection, started=now, ended=now, refused=True)
            return Reply(503, b"busy: one request at a time")
        self.sessions.in_execution_most = max(self.sessions.in_execution_most, 1)
        fault = self._deck.deal(self.knobs) if query.authentic and query.error is None else None
        self.executing = Execution(query, connection, now, self._service(query, fault), fault)
        return self.executing

    def finish(self, now: float, execution: Execution) -> Reply:
        """Execute the request and return what the client gets."""
        self.executing = None
        query, fault = execution.query, execution.fault
        status = 401 if not query.authentic else query.error or 200
        unneeded, shown = False, None
        if status == 200 and query.wish is not None and query.slot in self.knobs.busy:
            status = 503
        if status == 200 and query.wish is not None:
            unneeded = self._command(query, execution, now)
        if fault is FaultKind.HTTP_500:
            status = 500
        elif status == 200 and query.wish is None and fault not in BROKEN:
            self.model.advance(execution.started)
            shown = {slot: server.active for slot, server in self.model.servers.items()}
        self._write(
            query,
            status,
            connection=execution.connection,
            started=execution.started,
            ended=now,
            fault=fault,
            unneeded=unneeded,
            shown=shown,
        )
        return self._reply(query, status, fault, shown)

    def truth(self, now: float) -> dict[str, dict[str, Any]]:
        """Return each server's state and where it is going."""
        self.model.advance(now)
        words = {None: None, True: "on", False: "off"}
        return {
            slot: {"active": server.active, "pending": words[server.target]}
            for slot, server in self.model.servers.items()
        }

    def start_act(self, name: str, now: float) -> None:
        """Begin a new window for the figures."""
        self.model.advance(now)
        self.act = name
        self._act_from = self.numbers
        self._transitions_from = len(self.model.transitions)
        self.sessions.begin()

    def figures(self, now: float) -> dict[str, Any]:
        """Return the figures of the current act."""
        self.model.advance(now)
        entries = [e for e in self.log if e.number > self._act_from]
        changes: list[Transition] = self.model.transitions[self._transitions_from :]
        effect = max(self.knobs.off_effect[1], self.knobs.on_effect[1])
        return {
            "act": self.act,
            **figures(entries, changes, effect),
            "logins": self.sessions.logins,
            "sessions": len(self.sessions.live),
            "max_sessions": self.sessions.most,
            "max_in_execution": self.sessions.in_execution_most,
        }

    def _command(self, query: Query, execution: Execution, now: float) -> bool:
        """Carry out a command (unless the fault says otherwise); return whether nobody needed it."""
        assert query.slot is not None
        assert query.wish is not None
        self.model.advance(now)
        server = self.model.servers[query.slot]
        coming = server.target if server.target is not None else server.active
        unneeded = coming == query.wish and (server.target is None or server.clean)
        if execution.fault not in (FaultKind.DROPPED_BEFORE, FaultKind.HTTP_500):
            stuck = self.knobs.never_on if query.wish else self.knobs.never_off
            effect = self.knobs.on_effect if query.wish else self.knobs.off_effect
            seconds = None if query.slot in stuck else self._draw(effect)
            clean = execution.fault is not FaultKind.DROPPED_AFTER
            self.model.command(query.slot, query.wish, now, seconds, clean)
        return unneeded

    def _service(self, query: Query, fault: FaultKind | None) -> float:
        if fault is FaultKind.SLOW:
            return self._draw(self.knobs.slow)
        is_read = query.wish is None
        return self._draw(self.knobs.read_service if is_read else self.knobs.command_service)

    def _draw(self, span: Range) -> float:
        return self.chance.uniform(*span)

    def _write(self, query: Query, status: int, **known: Any) -> None:
        """Add to the log; `known` are the other fields of an `Entry`."""
        self.numbers += 1
        turned_away = known.pop("refused", False) or status in (400, 401, 404)
        self.log.append(
            Entry(
                number=self.numbers,
                method=query.method,
                path=query.path,
                status=status,
                slot=query.slot,
                wish=query.wish,
                refused=turned_away,
                **known,
            )
        )

    def _reply(
        self, query: Query, status: int, fault: FaultKind | None, shown: dict[str, bool] | None
    ) -> Reply:
        if fault in (FaultKind.DROPPED_BEFORE, FaultKind.DROPPED_AFTER):
            return Reply(None)
        if status == 200 and self.knobs.garbage:
            return Reply(200, b"<html><body>starting, please wait</body></html>")
        if status == 200 and self.knobs.unauthorized_inside:
            return Reply(200, b'{"error": {"code": 401}, "result": null}')
        if status != 200:
            return Reply(status, json.dumps({"error": {"code": status}}).encode())
        if query.wish is not None:
            return self.chance.choice(_DONE)
        return Reply(200, _listing(query.slot, shown or {}))


#: The ways in which an SM15K says that it took a command.
_DONE = (Reply(200, b"Done."), Reply(202), Reply(204), Reply(200, b'{"result": "ok"}'))


def _listing(slot: str | None, shown: dict[str, bool]) -> bytes:
    """Write one server, or the object of all, with details that nobody reads but every chassis sends."""
    if slot is not None:
        return _server(slot, shown[slot]).encode()
    servers = ",".join(f'"{name}":{_server(name, active)}' for name, active in shown.items())
    return f"{{{servers}}}".encode()


def _server(name: str, active: bool) -> str:
    return f'{{"serverId":"{name}","active":{"true" if active else "false"},{_DETAILS}}}'


_DETAILS = json.dumps(
    {
        "cpus": 4,
        "memorySize": "32768",
        "nic": {str(number): {"macAddr": f"00:22:99:00:{number:02x}:01"} for number in range(4)},
    }
)[1:-1]


def understand(method: str, uri: str, body: bytes, knobs: Knobs) -> Query:
    """Read a v2.0 request: path, credentials from query or JSON body, and the action of a PUT."""
    parts = urlsplit(uri)
    query = parse_qs(parts.query, keep_blank_values=True)
    try:
        fields = json.loads(body) if body else {}
    except ValueError:
        return Query(method=method, path=parts.path, error=400)
    if not isinstance(fields, dict):
        return Query(method=method, path=parts.path, error=400)

    def value(name: str) -> object:
        return fields.get(name, query.get(name, [None])[0])

    authentic = (value("username"), value("password")) == (knobs.user, knobs.password)
    known = [f"{number}/0" for number in range(knobs.servers)]
    slot, error = _slot(parts.path, known)
    wish = None
    if method == "PUT":
        wish = {"power-on": True, "power-off": False}.get(str(value("action")))
        error = error or (400 if wish is None or slot is None else None)
    elif method != "GET":
        error = 400
    return Query(
        method=method,
        path=parts.path,
        slot=slot,
        wish=wish if error is None else None,
        error=error,
        authentic=authentic,
    )


def _slot(path: str, known: list[str]) -> tuple[str | None, int | None]:
    """Return the server that a path names (None for the list), or the status of a wrong path."""
    rest = path.removeprefix("/v2.0/servers")
    if rest in ("", "/"):
        return None, None
    slot = rest.removeprefix("/")
    return (slot, None) if slot in known and path.startswith("/v2.0/servers/") else (None, 404)
