"""The side doors of the simulated chassis: the physical truth, and the figures of an act."""

import json
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from switchgear_cli.up.stack import ChassisPlan


@frozen
class SideDoor:
    """Asks one chassis behind the product's back."""

    plan: ChassisPlan

    def ask(self, path: str, body: object = None) -> Any:
        """Ask the side door; a body makes it a POST."""
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.plan.audit_port}{path}"
        with urllib.request.urlopen(
            urllib.request.Request(url, data), timeout=10
        ) as answer:  # our own loopback port
            return json.load(answer)

    def active(self) -> dict[str, bool]:
        """Return which servers are on in truth."""
        return {slot: state["active"] for slot, state in self.ask("/truth").items()}


@frozen
class Truth:
    """All chassis of the demo."""

    doors: Sequence[SideDoor]

    def begin_act(self, name: str) -> None:
        """Begin a new window for the figures."""
        for door in self.doors:
            door.ask("/act", {"name": name})

    def figures(self) -> list[Mapping[str, Any]]:
        """Return the figures of each chassis."""
        return [door.ask("/act") for door in self.doors]

    def active(self) -> dict[tuple[str, str], bool]:
        """Return which servers are on in truth, by chassis and slot."""
        return {
            (door.plan.name, slot): active
            for door in self.doors
            for slot, active in door.active().items()
        }

    def share_off(self) -> float:
        """Return the share of servers that are off."""
        active = self.active().values()
        return sum(not on for on in active) / max(1, len(active))
