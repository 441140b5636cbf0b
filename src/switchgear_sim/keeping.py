"""Keeping a simulated chassis' power over restarts, and ending with the process that started it."""

import ctypes
import json
import os
import signal
from pathlib import Path

from switchgear_sim.sm15k.model import Model

_PR_SET_PDEATHSIG = 1


def load(path: Path, model: Model) -> None:
    """Set the servers to what was saved; servers that were not saved stay as they are."""
    if not path.exists():
        return
    try:
        saved = json.loads(path.read_text())
    except ValueError:
        return  # a torn file of a killed process is no knowledge
    for slot, active in saved.items():
        if slot in model.servers:
            model.servers[slot].active = bool(active)


def save(path: Path, model: Model) -> None:
    """Write the servers' states, or where they are going: effects do not wait for us."""
    states = {
        slot: server.target if server.target is not None else server.active
        for slot, server in model.servers.items()
    }
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(states))
    draft.replace(path)


def die_with_parent() -> None:
    """Get SIGTERM when the parent ends, however it ends (Linux; prctl(2))."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == 1:
        os.kill(os.getpid(), signal.SIGTERM)
