"""The addresses, through the real HTTP parser."""

import json
from typing import Any

import pytest

from regiond.web import reading
from regiond.web.routes import read_ask
from regiond.web.site import BODY_LIMIT
from switchgear.errors import BadRequest, Bug, Conflict, NoSuchThing, TryAgain
from switchgear.life import Verb
from switchgear.wire.client import Ask
from tests.regiond.web.asking import MARKED, FakeRecord, request, site


def test_the_page_and_its_files() -> None:
    """The page and what it needs come from here alone, and nobody may frame it."""
    built = site(FakeRecord())
    for path, kind in (
        ("/", "text/html"),
        ("/static/page.js", "text/javascript"),
        ("/static/page.css", "text/css"),
        ("/static/icon.svg", "image/svg+xml"),
    ):
        answer = request(built, "GET", path)
        assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, kind)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.body) > 100
    assert b"http://" not in request(built, "GET", "/").body


def test_a_file_that_the_browser_has() -> None:
    """A file that did not change is not sent again."""
    built = site(FakeRecord())
    tag = request(built, "GET", "/static/page.js").headers["etag"]
    again = request(built, "GET", "/static/page.js", {"If-None-Match": tag})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["/static/none", "/static/..%2fsite.py", "/api/none", "/x"])
def test_no_such_page(path: str) -> None:
    """An address that does not exist is a 404 in JSON."""
    answer = request(site(FakeRecord()), "GET", path)
    assert answer.status == 404
    assert set(json.loads(answer.body)) == {"error", "code"}


def test_lists() -> None:
    """Nodes, chassis and requests are read from the record, after a name."""
    record = FakeRecord(
        {
            reading.nodes_page: b'{"nodes":[],"more":false}',
            reading.chassis_page: b'{"chassis":[],"more":false}',
            reading.request_page: b'{"request":{}}',
            reading.items_page: b'{"items":[]}',
        }
    )
    built = site(record)
    assert request(built, "GET", "/api/nodes?after=n1").body == b'{"nodes":[],"more":false}'
    assert request(built, "GET", "/api/chassis").headers["cache-control"] == "no-store"
    request(built, "GET", "/api/requests/1.7")
    request(built, "GET", "/api/requests/1.7/items?after=n%2E2")
    assert record.asked == [
        ("nodes_page", ("n1",)),
        ("chassis_page", ("",)),
        ("request_page", ("1.7",)),
        ("items_page", ("1.7", "n.2")),
    ]


@pytest.mark.parametrize("after", ["%00", "%ff", "a" * 201])
def test_a_bad_name(after: str) -> None:
    """A name that can't be one is refused before the record is asked."""
    record = FakeRecord()
    assert request(site(record), "GET", f"/api/nodes?after={after}").status == 400
    assert record.asked == []


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (BadRequest("no"), 400, "BAD_REQUEST"),
        (NoSuchThing("no"), 404, "NO_SUCH_THING"),
        (Conflict("no"), 409, "CONFLICT"),
        (TryAgain("no"), 503, "TRY_AGAIN"),
    ],
)
def test_errors(error: Exception, status: int, code: str) -> None:
    """An error says who can act, and when to ask again."""
    answer = request(site(FakeRecord({reading.nodes_page: error})), "GET", "/api/nodes")
    assert (answer.status, json.loads(answer.body)) == (status, {"error": "no", "code": code})
    assert answer.headers.get("retry-after") == ("2" if status == 503 else None)


@pytest.mark.parametrize("error", [Bug("inner thing"), ZeroDivisionError("inner thing")])
def test_defects(error: Exception) -> None:
    """A defect of ours is a 500, and its text stays in the log."""
    answer = request(site(FakeRecord({reading.nodes_page: error})), "GET", "/api/nodes")
    assert (answer.status, json.loads(answer.body)["code"]) == (500, "BUG")
    assert b"inner thing" not in answer.body


def test_ask() -> None:
    """Asking for something passes on what was asked, as the client `web`."""
    record = FakeRecord({reading.asked: b'{"request":"1.1","nodes":2,"refused":0}'})
    body = {"verb": "mark-broken", "nodes": "n[1-2]", "reason": "fan", "key": "k"}
    answer = request(site(record), "POST", "/api/ask", MARKED, json.dumps(body).encode())
    assert (answer.status, json.loads(answer.body)["request"]) == (200, "1.1")
    ask = Ask(verb=Verb.MARK_BROKEN, nodes="n[1-2]", reason="fan", key="k")
    assert record.asked == [("asked", ("web", ask, []))]


def test_refused_before_anything() -> None:
    """What another site's page can send never reaches the record."""
    record = FakeRecord({reading.asked: b"{}"})
    built, body = site(record), b'{"verb":"release","nodes":"@all"}'
    plain = {"Content-Type": "text/plain"}
    for headers in (plain, {**MARKED, "Origin": "http://evil.example"}, {**MARKED, "Host": "evil"}):
        answer = request(built, "POST", "/api/ask", headers, body)
        assert (answer.status, json.loads(answer.body)["code"]) == (403, "BAD_REQUEST")
    assert request(built, "GET", "/api/ask").status == 405
    assert record.asked == []


def test_a_body_too_large() -> None:
    """A body above the limit is cut off, and one at the limit is read."""
    record = FakeRecord({reading.asked: b"{}"})
    built = site(record)
    body = b'{"verb":"query","nodes":"n1"}'
    for size, status in ((BODY_LIMIT, 200), (BODY_LIMIT + 1, 413)):
        answer = request(built, "POST", "/api/ask", MARKED, body.ljust(size))
        assert answer.status == status
    assert len(record.asked) == 1


def test_a_list_of_names() -> None:
    """Nodes may be a list of names."""
    ask, names = read_ask(b'{"verb":"query","nodes":["a","b"]}')
    assert (ask.verb, names) == (Verb.QUERY, ["a", "b"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"[]",
        b'{"verb":"query"}',
        b'{"verb":"nonsense","nodes":"n"}',
        b'{"verb":["query"],"nodes":"n"}',
        b'{"verb":"query","nodes":7}',
        b'{"verb":"query","nodes":[7]}',
        b'{"verb":"query","nodes":"n","reason":7}',
        b'{"verb":"query","nodes":"n","power_off":"no"}',
        b'{"verb":"query","nodes":"n","owner":"root"}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_ask(body: bytes) -> None:
    """Anything else is refused."""
    with pytest.raises(BadRequest):
        read_ask(body)


def test_the_log_has_no_queries(caplog: Any) -> None:
    """Names that stand behind a `?` are not noted."""
    from twisted.logger import globalLogPublisher

    noted: list[Any] = []
    globalLogPublisher.addObserver(noted.append)
    try:
        record = FakeRecord({reading.asked: b"{}", reading.nodes_page: ZeroDivisionError()})
        built = site(record)
        request(built, "POST", "/api/ask?marker-71", MARKED, b'{"verb":"query","nodes":"n"}')
        request(built, "GET", "/api/nodes?after=marker-72")
    finally:
        globalLogPublisher.removeObserver(noted.append)
    shown = [f"{event.get('method')} {event.get('path')} {event.get('code')}" for event in noted]
    assert "POST /api/ask 200" in shown
    assert "GET /api/nodes 500" in shown
    assert "marker" not in "".join(shown)
