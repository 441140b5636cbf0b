"""A chassis process over real sockets: protocol, faults, sessions and the side door."""

import http.client
import json
import subprocess
import sys
import threading
import urllib.error
from pathlib import Path
from typing import Any

import pytest

from tests.switchgear_sim.running import RunningChassis, chassis

LOGIN = "username=admin&password=seamicro"


def request(
    port: int, method: str, path: str, body: object = None, timeout: float = 10
) -> tuple[int, bytes]:
    """Send one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def off(running: RunningChassis, slot: str) -> int:
    """Send a forced power-off as python-seamicroclient does, and return the status."""
    body = {"username": "admin", "password": "seamicro"}
    path = f"/v2.0/servers/{slot}?action=power-off&force=true"
    return request(running.port, "PUT", path, body)[0]


def servers(running: RunningChassis) -> dict[str, Any]:
    """Read all servers."""
    status, text = request(running.port, "GET", f"/v2.0/servers?{LOGIN}")
    assert status == 200
    found: dict[str, Any] = json.loads(text)
    return found


def test_read_off_read() -> None:
    """All servers are listed with their power bit, and a power-off shows after its effect time."""
    with chassis("--off-effect", "0.2", "0.2") as running:
        assert [s["active"] for s in servers(running).values()] == [True] * 64
        assert off(running, "7/0") in (200, 202, 204)
        assert servers(running)["7/0"]["active"]
        assert running.ask("/truth")["7/0"] == {"active": True, "pending": "off"}
        threading.Event().wait(0.3)
        assert not servers(running)["7/0"]["active"]
        figures = running.ask("/act")
        assert (figures["commands"], figures["transitions_off"]) == (1, 1)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/v2.0/servers?username=admin&password=wrong", None, 401),
        ("GET", "/v2.0/servers", None, 401),
        ("GET", f"/v2.0/servers/64/0?{LOGIN}", None, 404),
        ("GET", f"/v2.0/nonsense?{LOGIN}", None, 404),
        ("PUT", f"/v2.0/servers?{LOGIN}", None, 400),
        ("PUT", f"/v2.0/servers/7/0?{LOGIN}&action=dance", None, 400),
        ("PUT", f"/v2.0/servers/7/0?{LOGIN}", [1], 400),
        ("DELETE", f"/v2.0/servers/7/0?{LOGIN}", None, 400),
    ],
)
def test_wrong_requests_change_nothing(method: str, path: str, body: object, status: int) -> None:
    """A request that is wrong gets its status and is no command."""
    with chassis("--servers", "8") as running:
        path = path.replace("64/0", "8/0")
        assert request(running.port, method, path, body)[0] == status
        assert running.ask("/act")["commands"] == 0


def test_a_second_request_is_refused_and_counted() -> None:
    """While one request is executed another one is refused at once."""
    with chassis("--service", "0.5", "0.5") as running:
        first = threading.Thread(target=servers, args=(running,))
        first.start()
        threading.Event().wait(0.2)
        status, _ = request(running.port, "GET", f"/v2.0/servers?{LOGIN}")
        first.join()
        assert status == 503
        figures = running.ask("/act")
        assert (figures["refused_parallel"], figures["max_in_execution"]) == (1, 2)
        assert (figures["max_sessions"], figures["logins"]) == (2, 2)


def test_a_client_that_leaves_does_not_stop_the_execution() -> None:
    """The command of a client that went away still takes effect, and holds the chassis meanwhile."""
    with chassis("--service", "0.4", "0.4") as running:
        connection = http.client.HTTPConnection("127.0.0.1", running.port)
        connection.request("PUT", f"/v2.0/servers/7/0?action=power-off&force=true&{LOGIN}")
        threading.Event().wait(0.1)
        connection.close()
        assert request(running.port, "GET", f"/v2.0/servers?{LOGIN}")[0] == 503
        threading.Event().wait(0.6)
        assert not running.is_on("7/0")


@pytest.mark.parametrize(("after", "off_later"), [(False, False), (True, True)])
def test_dropped_connections(after: bool, off_later: bool) -> None:
    """Dropped before: nothing happened. Dropped after: the command counts although nobody heard."""
    with chassis("--drop-rate", "1") as running:
        if not after:
            running.turn(drop_rate=0.0025)
            statuses = []
            for _ in range(400):
                try:
                    statuses.append(off(running, "7/0"))
                except (http.client.HTTPException, OSError):
                    break
            figures = running.ask("/act")
            assert figures["faults"]["dropped_before"] == 1
            assert len(statuses) == figures["commands"] - 1
        else:
            seen = {"dropped_before": 0, "dropped_after": 0}
            while not seen["dropped_after"]:
                with pytest.raises((http.client.HTTPException, OSError)):
                    off(running, "7/0")
                seen = running.ask("/act")["faults"]
            threading.Event().wait(0.2)
            assert running.is_on("7/0") is not off_later


def test_unneeded_commands_are_counted() -> None:
    """A power-off to a server that is off, or is going off, is one too many."""
    with chassis("--off-effect", "0.5", "0.5") as running:
        off(running, "7/0")
        off(running, "7/0")
        assert running.ask("/act")["unneeded_commands"] == 1
        threading.Event().wait(0.6)
        off(running, "7/0")
        assert running.ask("/act")["unneeded_commands"] == 2
        running.ask("/act", {"name": "next"})
        assert running.ask("/act")["unneeded_commands"] == 0


def test_knobs() -> None:
    """Frozen, refusing, garbage and a changed password, each and back again."""
    with chassis() as running:
        running.turn(frozen=True)
        with pytest.raises(OSError, match="timed out"):
            request(running.port, "GET", f"/v2.0/servers?{LOGIN}", timeout=0.3)
        running.turn(frozen=False, refuse=True)
        with pytest.raises(OSError, match="refused"):
            request(running.port, "GET", f"/v2.0/servers?{LOGIN}")
        running.turn(refuse=False, garbage=True)
        assert b"<html>" in request(running.port, "GET", f"/v2.0/servers?{LOGIN}")[1]
        running.turn(garbage=False, unauthorized_inside=True)
        assert b"401" in request(running.port, "GET", f"/v2.0/servers?{LOGIN}")[1]
        running.turn(unauthorized_inside=False, password="Grün€7 &")
        path = "/v2.0/servers?username=admin&password=Gr%C3%BCn%E2%82%AC7%20%26"
        assert request(running.port, "GET", path)[0] == 200
        with pytest.raises(urllib.error.HTTPError):
            running.turn(no_such_knob=1)


def test_the_log_hides_credentials() -> None:
    """The judge's log has paths without their query."""
    with chassis() as running:
        servers(running)
        text = json.dumps(running.ask("/log"))
        assert "/v2.0/servers" in text
        assert "seamicro" not in text


def test_power_survives_a_restart(tmp_path: Path) -> None:
    """With a state file, a chassis comes back as it was left."""
    state = str(tmp_path / "power.json")
    with chassis("--state", state) as running:
        off(running, "7/0")
    with chassis("--state", state) as running:
        truth = running.ask("/truth")
        assert [slot for slot, s in truth.items() if not s["active"]] == ["7/0"]


def test_python_seamicroclient_itself_can_talk_to_it() -> None:
    """The vendor's own client reads one server and switches it off."""
    script = (
        "import sys; from seamicroclient.client import Client;"
        "c = Client('2', 'admin', 'seamicro', auth_url=sys.argv[1]);"
        "s = c.servers.get('7/0'); assert s.active is True; s.power_off(force=True)"
    )
    with chassis() as running:
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script, running.url], check=True, timeout=30
        )
        threading.Event().wait(0.2)
        assert not running.is_on("7/0")
