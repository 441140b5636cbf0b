"""The stream of a real regiond, read as a program would, without a browser."""

import http.client
import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from attrs import frozen

from switchgear.life import Status, Verb
from tests.acceptance.web.region import RunningRegion


@frozen
class Told:
    """One event of a stream."""

    kind: str
    mark: str
    data: Any


@contextmanager
def opened(region: RunningRegion, last: str = "") -> Iterator[Iterator[Told]]:
    """Open a stream; yields its events."""
    connection = http.client.HTTPConnection(region.url.removeprefix("http://"), timeout=15)
    with closing(connection):
        connection.request("GET", "/api/stream", headers={"Last-Event-ID": last} if last else {})
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        yield _events(answer)


def _events(lines: Any) -> Iterator[Told]:
    fields: dict[str, str] = {}
    for raw in lines:
        line = raw.decode().rstrip("\n")
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "data" in fields:
            yield Told(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
            fields = {}


def _until(events: Iterator[Told], kind: str) -> Told:
    deadline = time.monotonic() + 15
    for told in events:
        assert time.monotonic() < deadline, f"no {kind}"
        if told.kind == kind:
            return told
    raise AssertionError(f"the stream ended without {kind}")


def test_a_page_that_comes_back_gets_what_it_missed(region: RunningRegion) -> None:
    """With its last id a page gets the changes since then, and no node that did not change."""
    region.world.enrol(300, status=Status.DEPLOYED)
    with opened(region) as events:
        first, second = _until(events, "snapshot"), _until(events, "snapshot")
        assert (len(first.data["nodes"]), len(second.data["nodes"])) == (250, 50)
        assert (first.mark, first.data["first"], second.data["last"]) == ("", True, True)
        assert _until(events, "chassis").data["chassis"][0]["nodes"] == 300
    region.world.ask(Verb.RELEASE, "sm-1-007")
    with opened(region, second.mark) as events:
        told = next(events)
        while told.kind != "nodes":
            assert told.kind != "snapshot"
            told = next(events)
    (node,) = told.data["nodes"]
    assert (node["name"], node["status"], node["owner"]) == ("sm-1-007", "releasing", "juju")
    assert node["operation"]


def test_a_mark_of_another_record(region: RunningRegion) -> None:
    """A mark of before a restored backup, or of the future, begins anew and misses nothing."""
    region.world.enrol(1)
    for mark in ("7.1", f"1.{2**62}", "nonsense"):
        with opened(region, mark) as events:
            assert _until(events, "snapshot").data["last"]


def test_no_secret_is_told(region: RunningRegion) -> None:
    """Neither the lists nor the stream tell a chassis' password or its settings."""
    region.world.enrol(1)
    region.world.rack()
    with opened(region) as events:
        told = json.dumps(_until(events, "chassis").data)
    with urllib.request.urlopen(f"{region.url}/api/chassis") as answer:
        listed = json.load(answer)["chassis"]
    assert "S3cr-marker-91" not in told + json.dumps(listed)
    assert listed[0]["secrets_set"] == ["password"]
    assert "settings" not in told


def test_asking_twice_with_one_key(region: RunningRegion) -> None:
    """A request sent again after a lost answer is the same request; a list of names is a node set."""
    region.world.enrol(3, status=Status.READY)
    names = ["sm-1-000", "sm-1-002"]
    body = json.dumps({"verb": "query", "nodes": names, "key": "k1"}).encode()
    headers = {"X-Switchgear": "1", "Content-Type": "application/json"}
    answers = []
    for _ in range(2):
        asking = urllib.request.Request(f"{region.url}/api/ask", body, headers)
        with urllib.request.urlopen(asking) as answer:
            answers.append(json.load(answer))
    assert answers[0] == answers[1]
    assert answers[0]["nodes"] == 2
    with urllib.request.urlopen(f"{region.url}/api/requests/{answers[0]['request']}/items") as got:
        page = json.load(got)
    assert [item["node"] for item in page["items"]] == names
    assert (page["request"]["running"], page["request"]["requested_by"]) == (2, "web")
