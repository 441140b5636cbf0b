"""What the guard lets through."""

from typing import Any

import pytest

from regiond.web.guard import Asked, host_name, refusal

NAMES = frozenset({"power.example.org"})


def _asked(**changes: Any) -> Asked:
    plain = {"method": "GET", "path": "/api/nodes", "local": "10.1.2.3", "host": "localhost:5240"}
    return Asked(**{**plain, **changes})


def _change(**changes: Any) -> Asked:
    post = {"method": "POST", "path": "/api/ask", "mark": "1", "content_type": "application/json"}
    return _asked(**{**post, **changes})


def _status(one: Asked) -> int | None:
    no = refusal(one, NAMES)
    return None if no is None else no.status


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:5240",
        "127.0.0.1:5240",
        "127.8.9.1",
        "[::1]:5240",
        "10.1.2.3:5240",
        "power.example.org:5240",
    ],
)
def test_own_hosts(host: str) -> None:
    """Loopback, the address that was called and configured names are ours."""
    assert _status(_asked(host=host)) is None


@pytest.mark.parametrize("host", [None, "", "evil.example", "10.1.2.4", "localhost.evil.example"])
def test_other_hosts(host: str | None) -> None:
    """A name that somebody else pointed to us is refused, so DNS rebinding gets nothing."""
    assert _status(_asked(host=host)) == 403


def test_host_name() -> None:
    """A host is read without its port and brackets."""
    assert [host_name(h) for h in ("A:1", "[::1]:2", "b")] == ["a", "::1", "b"]


def test_a_mapped_address_is_the_same() -> None:
    """An IPv4 client of a socket for both families names our IPv4 address."""
    assert _status(_asked(local="::ffff:10.1.2.3", host="10.1.2.3")) is None


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_reading_from_another_site(site: str) -> None:
    """Another site's page can't even open streams, but a link to our page works."""
    assert _status(_asked(fetch_site=site)) == 403
    assert _status(_asked(fetch_site=site, path="/")) is None
    assert _status(_asked(fetch_site="same-origin")) is None


def test_a_change_from_the_page() -> None:
    """What our page sends is let through, with or without an Origin."""
    assert _status(_change()) is None
    assert _status(_change(origin="http://localhost:5240", fetch_site="same-origin")) is None
    assert _status(_change(content_type="Application/JSON; charset=utf-8")) is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"mark": None}, 403),
        ({"mark": "0"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:9999"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": None}, 415),
        ({"method": "DELETE"}, 405),
    ],
)
def test_a_change_from_elsewhere(changes: dict[str, Any], expected: int) -> None:
    """A form or a script of another site is refused, whatever it can send by itself."""
    assert _status(_change(**changes)) == expected
