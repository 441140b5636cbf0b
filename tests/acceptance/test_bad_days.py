"""Bad days: what an operator meets in a data centre, on real processes."""

import json
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tests.acceptance.stage import CALM, QUICK, Stage, stage


@pytest.fixture(scope="module")
def calm() -> Iterator[Stage]:
    """One stack for all tests here; each test leaves its nodes ready and its chassis sound."""
    with stage(chassis=2, servers=6) as running:
        running.add_chassis("sm-1")
        running.add_chassis("sm-2")
        yield running


@pytest.fixture
def on(calm: Stage) -> Stage:
    """All nodes are deployed and on, whatever the test before left."""
    for name in calm.doors:
        calm.turn(
            name, frozen=False, refuse=False, garbage=False, never_off=[], never_on=[], busy=[]
        )
        calm.turn(name, password=calm.stack.password(), unauthorized_inside=False)
        calm.turn(name, service=[0.01, 0.02], error_rate=0)
    secret = ["--secret-stdin=password", "--set=action_limit=300"]
    calm.run("chassis", "set", "sm-1", *secret, given=calm.stack.password())
    calm.run("mark-fixed", "--yes", "--wait=60", "@status:broken")
    calm.until(lambda: calm.run("release", "--yes", "--wait=60", "@all").returncode == 0, 90)
    assert calm.statuses() == {"ready"}
    calm.deployed()
    for door in calm.doors.values():
        door.ask("/act", {"name": "test"})
    return calm


def all_off(running: Stage, chassis: str = "sm-1") -> bool:
    """Tell whether every server of a chassis is off in truth."""
    return not any(running.doors[chassis].active().values())


def test_wrong_password(on: Stage) -> None:
    """A wrong password fails with the reason, after two logins; the right one works at once."""
    on.turn("sm-1", password="another")
    done = on.run("release", "--wait=60", "@chassis:sm-1")
    assert done.returncode == 1
    assert "auth" in done.stdout
    assert on.act()["refused_logins"] == 2
    nodes = on.nodes("@chassis:sm-1")
    assert {node["status"] for node in nodes.values()} == {"failed-releasing"}
    assert {node["owner"] for node in nodes.values()} != {None}
    changed = on.run("chassis", "set", "sm-1", "--secret-stdin=password", given="another")
    assert changed.returncode == 0, changed.stderr
    assert on.run("release", "--wait=60", "@chassis:sm-1").returncode == 0
    assert all_off(on)
    on.run("chassis", "set", "sm-1", "--secret-stdin=password", given=on.stack.password())


def test_unreachable_chassis(on: Stage) -> None:
    """An unreachable chassis delays no other one; its nodes get a reason, and can be released again."""
    on.run("chassis", "set", "sm-1", "--set=action_limit=3")
    on.turn("sm-1", refuse=True)
    begun = time.monotonic()
    request = on.json("release", "--yes", "@all")["request"]
    on.until(lambda: all_off(on, "sm-2"), 20, "the other chassis")
    assert time.monotonic() - begun < 20
    done = on.run("request", "show", "--wait=60", request)
    assert done.returncode == 1
    assert "connection" in done.stdout
    statuses = {node["status"] for node in on.nodes("@chassis:sm-1").values()}
    assert statuses == {"failed-releasing"}
    assert "connection" in on.run("chassis", "list").stdout
    on.turn("sm-1", refuse=False)
    assert on.run("release", "--wait=60", "@chassis:sm-1").returncode == 0


def test_an_answer_that_is_no_json(on: Stage) -> None:
    """A chassis that answers HTML is class connection, never a power state."""
    on.turn("sm-1", garbage=True)
    request = on.json("power", "query", "sm-1-0-0")["request"]
    on.until(lambda: bool(on.json("chassis", "show", "sm-1")["fault"]), 20, "the fault is shown")
    assert "no list of servers" in on.json("chassis", "show", "sm-1")["fault"]["text"]
    assert on.nodes("sm-1-0-0")["sm-1-0-0"]["power"] == "on"
    on.turn("sm-1", garbage=False)
    assert on.run("request", "show", "--wait=60", request).returncode == 0


def test_an_error_inside_of_success(on: Stage) -> None:
    """Case 7: an error 401 within a 200 is a refused login, and the command line says failed."""
    on.turn("sm-1", unauthorized_inside=True)
    done = on.run("power", "off", "--wait=60", "sm-1-0-0")
    assert done.returncode == 1
    assert "auth" in done.stdout
    on.turn("sm-1", unauthorized_inside=False)
    on.run("chassis", "set", "sm-1", "--set=user=admin")


def test_a_node_that_never_goes_off(on: Stage) -> None:
    """Case 11: it is never ready: timed out, failed-releasing with the reason; the others are ready."""
    on.run("chassis", "set", "sm-1", "--set=action_limit=3")
    on.turn("sm-1", never_off=["2/0"])
    done = on.run("release", "--wait=60", "@chassis:sm-1")
    assert done.returncode == 1
    assert "failed: sm-1-2-0" in done.stdout
    nodes = on.nodes("@chassis:sm-1")
    assert nodes["sm-1-2-0"]["status"] == "failed-releasing"
    assert nodes["sm-1-2-0"]["power"] == "on"
    assert {n["status"] for name, n in nodes.items() if name != "sm-1-2-0"} == {"ready"}
    assert on.act()["commands_per_node_max"] == 1


def test_part_of_a_bulk_request_fails(on: Stage) -> None:
    """Case 10: one node is always busy and one never goes off: the report names both, with reasons."""
    on.run("chassis", "set", "sm-1", "--set=action_limit=3")
    on.turn("sm-1", never_off=["2/0"], busy=["4/0"])
    done = on.run("--json", "power", "off", "--wait=60", "@all")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["failed"] == "sm-1-[2,4]-0"
    kinds = {i["node"]: i["fault"]["kind"] for i in told["items"] if i["outcome"] != "succeeded"}
    assert kinds == {"sm-1-2-0": "timed-out", "sm-1-4-0": "busy"}
    assert told["counts"]["succeeded"] == 10
    on.turn("sm-1", never_off=[], busy=[])
    assert on.run("power", "off", "--wait=60", told["failed"]).returncode == 0


def test_a_slow_chassis_delays_nobody_else(on: Stage) -> None:
    """Case 3, scaled: reads of 3 s and commands of 0.2 s; another chassis and the list stay quick."""
    on.turn("sm-1", read_service=[3, 3], command_service=[0.2, 0.2])
    begun = time.monotonic()
    request = on.json("release", "--yes", "@chassis:sm-1")["request"]
    threading.Event().wait(1)
    for ask in (["power", "query", "--wait=10", "sm-2-0-0"], ["node", "list"]):
        asked = time.monotonic()
        assert on.run(*ask).returncode == 0
        assert time.monotonic() - asked < 4  # of which a second is the start of Python
    assert on.run("request", "show", "--wait=60", request).returncode == 0
    serial = 2 * 3 + 6 * 0.2
    act = on.act()
    assert act["seconds"] <= 1.2 * serial
    assert (act["reads"], act["max_in_execution"]) == (2, 1)
    assert time.monotonic() - begun < 3 * serial


def test_two_clients_release_the_same_nodes(on: Stage) -> None:
    """Cases 12 and 15: both succeed, and each node gets one command."""
    results: list[int] = []

    def release() -> None:
        results.append(on.run("release", "--yes", "--wait=60", "@chassis:sm-1").returncode)

    threads = [threading.Thread(target=release) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [0, 0]
    act = on.act()
    assert (act["commands_per_node_max"], act["unneeded_commands"]) == (1, 0)
    again = on.run("release", "--wait=60", "@chassis:sm-1")
    assert again.returncode == 0
    assert on.act()["commands"] == 6


def test_a_chassis_dies_in_the_middle(on: Stage) -> None:
    """A chassis that reboots during a release: the rest is done when it is back."""
    on.turn("sm-1", service=[0.2, 0.2])
    request = on.json("release", "--yes", "@chassis:sm-1")["request"]
    threading.Event().wait(0.8)
    on.turn("sm-1", refuse=True)
    threading.Event().wait(2)
    on.turn("sm-1", refuse=False)
    assert on.run("request", "show", "--wait=60", request).returncode == 0
    assert all_off(on)
    assert on.act()["unneeded_commands"] == 0


@pytest.mark.parametrize("victim", ["regiond", "rackd"])
def test_a_daemon_dies_in_the_middle(on: Stage, victim: str) -> None:
    """Case 13: kill -9 in a release; it is finished after the restart, without a needless command."""
    on.turn("sm-1", service=[0.2, 0.2])
    request = on.json("release", "--yes", "@chassis:sm-1")["request"]
    threading.Event().wait(0.9)
    on.stack.services[victim].kill()
    threading.Event().wait(1)
    on.stack.restart(victim)
    assert on.run("request", "show", "--wait=90", request).returncode == 0
    assert all_off(on)
    act = on.act()
    assert (act["unneeded_commands"], act["max_sessions"]) == (0, 1)


def test_postgres_is_killed_for_a_while(on: Stage) -> None:
    """PostgreSQL is killed in a release and away for 20 s: it goes on by itself."""
    on.turn("sm-1", service=[0.2, 0.2])
    request = on.json("release", "--yes", "@chassis:sm-1")["request"]
    threading.Event().wait(0.7)
    postgres = on.stack.postgres
    assert postgres is not None
    postgres.kill()
    threading.Event().wait(20)
    postgres.start()
    assert on.run("request", "show", "--wait=90", request).returncode == 0
    assert all_off(on)
    assert on.act()["unneeded_commands"] == 0


def test_the_opposite_wish(on: Stage) -> None:
    """Case 15: off and on of one node at once never interleave, and both end with a reason."""
    on.turn("sm-1", service=[0.2, 0.2])
    off = on.json("power", "off", "sm-1-0-0")["request"]
    back = on.json("power", "on", "sm-1-0-0")["request"]
    for request in (off, back):
        on.until(lambda r=request: on.run("request", "show", r).returncode != 4, 60, request)  # type: ignore[misc]
    on.until(lambda: on.nodes("sm-1-0-0")["sm-1-0-0"]["power"] == "on", 30, "on again")
    assert on.doors["sm-1"].active()["0/0"]


def test_a_hand_on_the_button_finishes_a_release(on: Stage) -> None:
    """An observation, whoever made it, finishes a release: here a check of another node."""
    on.turn("sm-1", never_off=["1/0"])
    request = on.json("release", "--yes", "sm-1-1-0")["request"]
    on.until(lambda: on.act()["commands"] == 1, 20, "the command")
    on.doors["sm-1"].ask("/truth", {"1/0": False})
    assert on.run("request", "show", "--wait=30", request).returncode == 0


def test_mark_broken_and_fixed(on: Stage) -> None:
    """Case 21: broken is powered off and remembers; fixed gives back status and owner."""
    before = on.nodes("@chassis:sm-1")
    reason = "fan 3 — Lüfter ☠ " + "x" * 900
    done = on.run("mark-broken", "--wait=60", "--reason", reason, "@chassis:sm-1")
    assert done.returncode == 0, done.stdout
    assert all_off(on)
    broken = on.nodes("@status:broken")
    assert {node["reason"] for node in broken.values()} == {reason}
    assert on.run("power", "query", "--wait=60", "sm-1-0-0").returncode == 0
    assert on.run("mark-fixed", "--wait=60", "@status:broken").returncode == 0
    after = on.nodes("@chassis:sm-1")
    assert {n: (v["status"], v["owner"]) for n, v in after.items()} == {
        n: (v["status"], v["owner"]) for n, v in before.items()
    }


def test_bad_sets_send_nothing(on: Stage) -> None:
    """A bad range or an unknown name stops the whole request before any command."""
    for nodes in ("sm-1-[0-3", "sm-1-0-0,nobody", "@chassis:sm-9", "sm-1-[9-1]-0", "n[1-99999999]"):
        done = on.run("release", "--yes", "--wait=10", nodes)
        assert done.returncode == 2, (nodes, done.stderr)
    assert on.act()["requests"] == 0
    assert on.statuses() == {"deployed"}


def test_slower_than_35_seconds() -> None:
    """An answer that takes longer than the call limit is given up, and its place kept until it ended."""
    with stage(servers=2) as running:
        running.add_chassis(call_limit="1", action_limit="6")
        running.turn(read_service=[3, 3])
        done = running.run("power", "query", "--wait=40", "sm-1-0-0")
        assert done.returncode == 1
        assert "connection" in done.stdout or "busy" in done.stdout
        running.turn(read_service=[0.01, 0.02])
        running.until(
            lambda: running.run("power", "query", "--wait=30", "sm-1-0-0").returncode == 0, 30
        )


def test_a_pool_of_one_thread_does_not_hang() -> None:
    """The deadlock of the story: ceiling = base = 1, and every release still frees its addresses."""
    with stage(servers=8, base=1, ceiling=1, leases=1, options=[*CALM, *QUICK]) as running:
        running.add_chassis()
        running.deployed()
        assert running.run("release", "--yes", "--wait=60", "@all").returncode == 0
        assert running.statuses() == {"ready"}


def test_interrupted_and_waits_over() -> None:
    """Ctrl-C ends the wait with 130 and the id; a wait that is over is 4; no region is 3."""
    import subprocess
    import sys

    with stage(
        servers=2, options=[*CALM, "--off-effect", "6", "6", "--on-effect", "0", "0"]
    ) as running:
        running.add_chassis(effect_limit="8", usual_effect="6")
        running.deployed()
        assert running.run("release", "--yes", "--wait=1", "@all").returncode == 4
        region = f"127.0.0.1:{running.stack.plan.client_port}"
        argv = [sys.executable, "-m", "switchgear_cli.main", "--region", region]
        with subprocess.Popen(
            [*argv, "release", "--yes", "--wait", "@all"],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(running.stack.environment()),
        ) as process:
            threading.Event().wait(2)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
        assert process.returncode == 130
        assert "request 1." in said
        running.until(lambda: running.statuses() == {"ready"}, 30)
        running.stack.services["regiond"].end()
        assert running.run("node", "list").returncode == 3
        running.stack.restart("regiond")
