"""The demo in a short form, and the judge's teeth."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = str(Path(__file__).resolve().parents[2] / "src")


def demo(*options: str, sabotage: str = "") -> tuple[int, list[dict[str, Any]], str]:
    """Play the demo; return its exit code, its figures, and all it printed."""
    env = {**os.environ, "SABOTAGE": sabotage, "PYTHONPATH": SOURCE}
    done = subprocess.run(
        [sys.executable, "-m", "switchgear_cli.main", "demo", *options],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=env,
    )
    lines = done.stdout.strip().splitlines()
    figures = json.loads(lines[-1]) if lines and lines[-1].startswith("[{") else []
    return done.returncode, figures, done.stdout + done.stderr


def test_release_with_a_killed_region() -> None:
    """Act 2 with fewer nodes: all become ready, and no rule is broken."""
    code, figures, said = demo("--nodes", "16", "--acts", "2")
    assert code == 0, said
    (act,) = figures
    assert (act["act"], act["nodes"], act["ready"], act["stuck"]) == (2, 48, 48, 0)
    assert act["unneeded_commands"] == 0
    assert sum(act["faults"].values()) > 0
    assert act["peak_threads"] <= 40
    assert act["peak_db_connections"] <= 11
    assert act["serial_bound_seconds"] > 3


@pytest.mark.parametrize(
    ("sabotage", "rule"),
    [
        ("parallel", "sessions at once"),
        ("double", "commands that no node needed"),
        ("early-ready", "called ready while they were on"),
        ("lost", "nodes are stuck"),
    ],
)
def test_the_judge_has_teeth(sabotage: str, rule: str) -> None:
    """A product that is broken on purpose is caught, for the right reason."""
    code, _, said = demo("--nodes", "12", "--acts", "1", "--limit", "30", sabotage=sabotage)
    assert code == 1, said
    assert rule in said, said


def test_an_unknown_sabotage_is_refused() -> None:
    """A typing error is no proof of anything."""
    code, _, said = demo(sabotage="paralel")
    assert code == 2
    assert "SABOTAGE is one of" in said
