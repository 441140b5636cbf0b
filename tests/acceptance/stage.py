"""A whole Switchgear on one machine, on free ports and fresh state, for tests that use it as a user would."""

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field

from switchgear_cli.demo.chassis import SideDoor
from switchgear_cli.up.folder import StateFolder
from switchgear_cli.up.ports import HOST, free_port
from switchgear_cli.up.stack import Stack, StackPlan, simulated

#: Chassis that make no mistakes and are quick; a test turns what it needs.
CALM = ["--drop-rate", "0", "--error-rate", "0", "--slow-rate", "0", "--service", "0.01", "0.02"]
QUICK = ["--off-effect", "0.1", "0.3", "--on-effect", "0.1", "0.3"]


@define
class Stage:
    """A running stack, its command line, and the chassis' side doors."""

    stack: Stack
    doors: dict[str, SideDoor] = field(factory=dict)

    def run(self, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run the `switchgear` command."""
        region = f"{HOST}:{self.stack.plan.client_port}"
        return subprocess.run(
            [sys.executable, "-m", "switchgear_cli.main", "--region", region, *arguments],
            input=given if given is not None else "",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=dict(self.stack.environment()),
        )

    def json(self, *arguments: str) -> Any:
        """Run the command and return its JSON."""
        return json.loads(self.run("--json", *arguments).stdout)

    def nodes(self, nodes: str = "") -> dict[str, dict[str, Any]]:
        """Return the nodes of the record by name."""
        return {node["name"]: node for node in self.json("node", "list", nodes)["nodes"]}

    def statuses(self) -> set[str]:
        """Return the statuses that nodes have."""
        return {node["status"] for node in self.nodes().values()}

    def add_chassis(self, name: str = "sm-1", **settings: str) -> None:
        """Enrol a chassis of the stack with all its nodes, and take them into use."""
        quick = {"effect_limit": "0.6", "usual_effect": "0.3", "user": "admin", **settings}
        plan = next(plan for plan in self.stack.plan.chassis if plan.name == name)
        words = [f"--set={key}={value}" for key, value in {"url": plan.url, **quick}.items()]
        added = self.run(
            "chassis",
            "add",
            name,
            *words,
            "--secret-stdin",
            "password",
            given=self.stack.password(),
        )
        assert added.returncode == 0, added.stderr
        found = self.run("discover", name)
        assert found.returncode == 0, found.stderr
        accepted = self.run("accept", "--wait=60", f"@chassis:{name}")
        assert accepted.returncode == 0, accepted.stderr + accepted.stdout

    def deployed(self, nodes: str = "@all") -> None:
        """Bring ready nodes to deployed and on."""
        for verb in ("allocate", "deploy"):
            done = self.run(verb, "--yes", "--wait=60", nodes)
            assert done.returncode == 0, done.stderr + done.stdout

    def act(self, chassis: str = "sm-1") -> Any:
        """Return the chassis' own figures."""
        return self.doors[chassis].ask("/act")

    def turn(self, chassis: str = "sm-1", **knobs: object) -> None:
        """Turn knobs of a chassis."""
        self.doors[chassis].ask("/knobs", knobs)

    def until(self, holds: Callable[[], bool], seconds: float = 60.0, what: str = "") -> float:
        """Wait until something holds; return how long it took."""
        begun = time.monotonic()
        while not holds():
            assert time.monotonic() - begun < seconds, f"not within {seconds} s: {what}"
            threading.Event().wait(0.1)
        return time.monotonic() - begun


@contextmanager
def stage(
    chassis: int = 1, servers: int = 8, options: Sequence[str] = (*CALM, *QUICK), **plan: Any
) -> Iterator[Stage]:
    """Run a stack with simulated chassis that are off at first."""
    place = Path(tempfile.mkdtemp(prefix="switchgear-stage-"))
    place.chmod(0o711)
    folder = StateFolder.take(place / "state")
    stack = Stack(
        folder,
        StackPlan(
            web_port=free_port(),
            client_port=free_port(),
            rack_port=free_port(),
            chassis=simulated(
                chassis,
                lambda number: ["--servers", str(servers), "--initial", "off", *options],
            ),
            leases=plan.pop("leases", 6),
            **plan,
        ),
    )
    try:
        stack.start()
        yield Stage(stack, {one.name: SideDoor(one) for one in stack.plan.chassis})
    except BaseException:
        for log in sorted((place / "state" / "log").glob("*")):
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")
        raise
    finally:
        stack.stop()
        folder.leave()
        shutil.rmtree(place, ignore_errors=True)
