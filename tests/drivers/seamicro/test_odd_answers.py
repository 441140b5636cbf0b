"""What the driver makes of answers that a good chassis would never give."""

import logging
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from drivers.interfaces import DriverError, Fate, ISession
from drivers.registry import driver, validate
from switchgear.power import ErrorClass, Power, Wish
from switchgear.secret import Secret
from tests.drivers.seamicro.fake import (
    Fake,
    Reply,
    drip,
    drop,
    endless,
    hang,
    json_reply,
    playing,
    text_reply,
)

SERVERS = {"0/0": {"active": True, "serverId": "0/0"}, "1/0": {"active": False}}


def open_session(url: str, password: str = "S3cr-marker-91", **settings: str) -> ISession:
    """Open a session with validated settings."""
    given = {"url": url, "user": "admin", **settings}
    checked, secrets = validate("seamicro", given, {"password": Secret(password)})
    return driver("seamicro").open(checked, secrets)


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Everything that is logged, from DEBUG on; the marker password must never be in it."""
    caplog.set_level(logging.DEBUG)
    yield caplog
    assert "S3cr-marker-91" not in caplog.text


@pytest.mark.usefixtures("logged")
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (text_reply(200, "<html>starting</html>"), ErrorClass.CONNECTION),
        (text_reply(200, ""), ErrorClass.CONNECTION),
        (text_reply(200, b"\xff\xfe{"), ErrorClass.CONNECTION),
        (json_reply([1, 2]), ErrorClass.CONNECTION),
        (json_reply("on"), ErrorClass.CONNECTION),
        (json_reply({"error": {"code": 401}, "result": {}}), ErrorClass.AUTH),
        (json_reply({"error": {"code": "403"}}), ErrorClass.AUTH),
        (json_reply({"error": {"code": "what"}}), ErrorClass.CONNECTION),
        (json_reply({"error": 503}), ErrorClass.BUSY),
        (json_reply({"message": "no"}, 401), ErrorClass.AUTH),
        (text_reply(503, "<html>busy</html>"), ErrorClass.BUSY),
        (text_reply(429, ""), ErrorClass.BUSY),
        (text_reply(500, "oops"), ErrorClass.CONNECTION),
        (text_reply(502, ""), ErrorClass.CONNECTION),
        (text_reply(404, ""), ErrorClass.SETTINGS),
        (text_reply(302, "", Location="http://127.0.0.1:9/"), ErrorClass.SETTINGS),
        (text_reply(418, ""), ErrorClass.REFUSED),
        (drop, ErrorClass.CONNECTION),
        (endless, ErrorClass.CONNECTION),
    ],
)
def test_a_read_is_never_guessed(reply: Reply, kind: ErrorClass) -> None:
    """Whatever is not a list of servers is an error of the right class, after one request."""
    with playing(reply) as fake:
        session = open_session(fake.url)
        with pytest.raises(DriverError) as caught:
            session.read()
        assert caught.value.fault.kind is kind
        assert len(fake.received) == 1
        session.close()


@pytest.mark.parametrize(
    ("active", "power"),
    [
        (True, Power.ON),
        (False, Power.OFF),
        ("true", Power.UNKNOWN),
        ("off", Power.UNKNOWN),
        (1, Power.UNKNOWN),
        (None, Power.UNKNOWN),
    ],
)
def test_only_the_bit_is_a_state(active: object, power: Power) -> None:
    """Anything but JSON's true and false is no knowledge."""
    with playing(json_reply({"0/0": {"active": active, "manager": 1, "id": 2}, "1/0": 5})) as fake:
        session = open_session(fake.url)
        assert session.read() == {"0/0": power, "1/0": Power.UNKNOWN}
        session.close()


@pytest.mark.parametrize(
    "reply",
    [
        text_reply(200, "Done."),
        text_reply(201, ""),
        text_reply(202, "{}"),
        text_reply(204, ""),
        text_reply(304, ""),
        json_reply({"error": {"code": 0}, "result": "ok"}),
    ],
)
def test_every_kind_of_yes(reply: Reply) -> None:
    """Success has many statuses, and a body may be empty, text or JSON."""
    with playing(reply) as fake:
        session = open_session(fake.url)
        session.command("7/0", Wish.OFF)
        session.close()
    assert [(r.method, r.path) for r in fake.received] == [("PUT", "/v2.0/servers/7/0")]


@pytest.mark.usefixtures("logged")
@pytest.mark.parametrize(
    ("reply", "fate"),
    [
        (drop, Fate.UNKNOWN),
        (text_reply(500, ""), Fate.UNKNOWN),
        (text_reply(503, ""), Fate.NOT_ACCEPTED),
        (text_reply(401, ""), Fate.NOT_ACCEPTED),
        (text_reply(404, ""), Fate.NOT_ACCEPTED),
    ],
)
def test_the_fate_of_a_command(reply: Reply, fate: Fate) -> None:
    """A command is sent once, and what is known of it is told honestly."""
    with playing(reply) as fake:
        session = open_session(fake.url)
        with pytest.raises(DriverError) as caught:
            session.command("7/0", Wish.OFF)
        assert caught.value.fate is fate
        assert len(fake.received) == 1
        session.close()


def test_a_command_is_not_repeated_on_a_kept_connection() -> None:
    """A kept connection that ends under a command leaves its fate unknown; nothing is sent again."""
    with playing(json_reply(SERVERS), drop, json_reply(SERVERS)) as fake:
        session = open_session(fake.url)
        session.read()
        with pytest.raises(DriverError) as caught:
            session.command("0/0", Wish.OFF)
        assert caught.value.fate is Fate.UNKNOWN
        assert [r.method for r in fake.received] == ["GET", "PUT"]
        assert session.read()["1/0"] is Power.OFF
        session.close()


def test_off_is_forced_and_on_is_plain() -> None:
    """Off carries force in the query; on does not ask for PXE."""
    with playing(text_reply(200, "Done.")) as fake:
        session = open_session(fake.url)
        session.command("7/0", Wish.OFF)
        session.command("7/0", Wish.ON)
        session.close()
    off, on = fake.received
    assert off.query == {"action": "power-off", "force": "true"}
    assert on.query == {}
    assert on.body["action"] == "power-on"
    assert "using-pxe" not in on.body


@pytest.mark.parametrize(
    "password",
    [
        "a b",
        "p#q",
        "$HOME",
        "`id`",
        "x\"y'z",
        "\\n",
        "-v",
        ";reboot",
        "%s",
        "0123456",
        "Grün€7",
        "a:b",
        "a&b=c?d+e%20",
    ],
)
def test_credentials_arrive_unchanged(password: str) -> None:
    """Every password reaches the device as it was typed, in query and body."""
    with playing(json_reply(SERVERS), text_reply(200, "Done.")) as fake:
        session = open_session(fake.url, password, user=f"u{password}")
        session.read()
        session.command("7/0", Wish.ON)
        session.close()
    get, put = fake.received
    assert get.query == {"username": f"u{password}", "password": password}
    assert (put.body["username"], put.body["password"]) == (f"u{password}", password)


@pytest.mark.usefixtures("logged")
def test_one_connection_is_kept() -> None:
    """Ten calls use one connection."""
    with playing(json_reply(SERVERS)) as fake:
        session = open_session(fake.url)
        for _ in range(5):
            session.read()
            session.command("7/0", Wish.OFF)
        session.close()
        assert fake.connections == 1


@pytest.mark.usefixtures("logged")
def test_nobody_there() -> None:
    """A refused connection was surely not a command, and is one attempt."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    session = open_session(f"http://127.0.0.1:{port}/v2.0")
    started = time.monotonic()
    with pytest.raises(DriverError) as caught:
        session.command("7/0", Wish.OFF)
    assert (caught.value.fault.kind, caught.value.fate) == (
        ErrorClass.CONNECTION,
        Fate.NOT_ACCEPTED,
    )
    assert time.monotonic() - started < 3


@pytest.mark.usefixtures("logged")
def test_a_name_that_does_not_resolve() -> None:
    """A chassis name without an address is an error of class connection, not a hang."""
    session = open_session("http://no-such-chassis.invalid/v2.0")
    with pytest.raises(DriverError) as caught:
        session.read()
    assert (caught.value.fault.kind, caught.value.fate) == (
        ErrorClass.CONNECTION,
        Fate.NOT_ACCEPTED,
    )


def test_a_missing_certificate_file() -> None:
    """A CA file that is not there is a matter of settings."""
    session = open_session("https://127.0.0.1:9/v2.0", verify="/nonexistent/ca.pem")
    with pytest.raises(DriverError) as caught:
        session.read()
    assert caught.value.fault.kind is ErrorClass.SETTINGS


@pytest.mark.parametrize("reply", [hang, drip])
def test_the_limit_ends_a_call(reply: Reply) -> None:
    """Neither silence nor a drip holds a call much longer than its limit."""
    with playing(reply) as fake:
        session = open_session(fake.url, call_limit="0.5")
        started = time.monotonic()
        with pytest.raises(DriverError) as caught:
            session.command("7/0", Wish.OFF)
        assert caught.value.fate is Fate.UNKNOWN
        assert time.monotonic() - started < 5
        session.close()


@pytest.mark.parametrize("reply", [hang, drip])
def test_an_abort_wakes_the_call(reply: Reply) -> None:
    """Another thread can cut the connection under a call, silent or dripping."""
    with playing(reply) as fake:
        session = open_session(fake.url)
        timer = threading.Timer(0.3, session.abort)
        timer.start()
        started = time.monotonic()
        with pytest.raises(DriverError):
            session.read()
        assert time.monotonic() - started < 5
        timer.join()
        with pytest.raises(DriverError):
            session.read()
        session.close()


def test_the_environment_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment is not used."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with playing(json_reply(SERVERS)) as fake:
        session = open_session(fake.url)
        assert session.read()["0/0"] is Power.ON
        session.close()


def test_a_session_does_not_show_its_secret() -> None:
    """Neither the session nor what it holds prints the password."""
    with playing(json_reply(SERVERS)) as fake:
        session = open_session(fake.url)
        session.read()
        assert "S3cr-marker-91" not in repr(session)
        transport = session._transport  # type: ignore[attr-defined]
        assert "S3cr-marker-91" not in repr(vars(transport))
        session.close()


def test_fake_is_used_once_each() -> None:
    """The script itself plays in order and repeats its last reply."""
    fake: Fake
    with playing(text_reply(200, "Done."), drop) as fake:
        session = open_session(fake.url)
        session.command("1/0", Wish.ON)
        for _ in range(2):
            with pytest.raises(DriverError):
                session.command("1/0", Wish.ON)
        session.close()
