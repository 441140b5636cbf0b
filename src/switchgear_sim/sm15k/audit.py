"""The judge's arithmetic: what the chassis' own log says about those who used it.

Every figure counts from the last `begin` (an act). ``serial_bound_seconds`` is how long the same work
would have taken someone who made no mistake: the service times really spent on

* one first read (with its attempts that a fault hit),
* the first command of each node, and each later one whose predecessor a fault lost,
* one last read (with the attempts just before it that a fault hit),

plus the longest effect, plus one read and one effect more if a command was lost.

``unneeded_commands`` are those to a server that already was as asked, or whose accepted command was
still taking effect and was hit by no fault.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from switchgear_sim.sm15k.deck import FaultKind
from switchgear_sim.sm15k.model import Transition

#: Faults after which a request has to be made again, and those that lost a command.
BROKEN = frozenset({FaultKind.DROPPED_BEFORE, FaultKind.DROPPED_AFTER, FaultKind.HTTP_500})
LOSING = frozenset({FaultKind.DROPPED_BEFORE, FaultKind.HTTP_500})


@frozen(kw_only=True)
class Entry:
    """One request. Times are seconds of the monotonic clock. `slot` and `wish` are set for a command.

    `shown`: the state of every server in an answered read. `unneeded`: see above.
    """

    number: int
    connection: int
    method: str
    path: str
    started: float
    ended: float
    status: int
    fault: FaultKind | None = None
    slot: str | None = None
    wish: bool | None = None
    unneeded: bool = False
    shown: dict[str, bool] | None = None
    refused: bool = False

    @property
    def service(self) -> float:
        """Seconds that the chassis spent on it."""
        return self.ended - self.started

    @property
    def is_read(self) -> bool:
        """Tell whether it read the servers (successfully or hit by a fault)."""
        return self.method == "GET" and not self.refused

    @property
    def is_command(self) -> bool:
        """Tell whether it was a power command that reached execution."""
        return self.wish is not None and not self.refused

    @property
    def broken(self) -> bool:
        """Tell whether a fault took away its answer."""
        return self.fault in BROKEN


def shown_at(entries: Sequence[Entry], transitions: Sequence[Transition]) -> float | None:
    """Return when reads had shown every changed server in its last state; None if they have not."""
    ends = {change.slot: change for change in transitions}
    latest = 0.0
    for slot, change in ends.items():
        seen = [
            e.ended
            for e in entries
            if e.shown is not None and e.shown.get(slot) == change.active and e.ended >= change.at
        ]
        if not seen:
            return None
        latest = max(latest, min(seen))
    return latest or None


def serial_bound(entries: Sequence[Entry], until: float | None, effect: float) -> float:
    """Return ``serial_bound_seconds``; `until` is when the last change was shown."""
    reads = [e for e in entries if e.is_read and (until is None or e.ended <= until)]
    commands = [e for e in entries if e.is_command]
    seconds = _first_read(reads) + _needed_commands(commands) + _last_read(reads) + effect
    if any(e.fault in LOSING for e in commands):
        seconds += min((e.service for e in reads if not e.broken), default=0.0) + effect
    return seconds


def _first_read(reads: Sequence[Entry]) -> float:
    seconds = 0.0
    for read in reads:
        seconds += read.service
        if not read.broken:
            break
    return seconds


def _last_read(reads: Sequence[Entry]) -> float:
    if len(reads) < 2:
        return 0.0
    seconds = reads[-1].service
    for read in reversed(reads[1:-1]):
        if not read.broken:
            break
        seconds += read.service
    return seconds


def _needed_commands(commands: Sequence[Entry]) -> float:
    seconds = 0.0
    before: dict[tuple[str | None, bool | None], Entry] = {}
    for command in commands:
        earlier = before.get((command.slot, command.wish))
        if earlier is None or earlier.fault in LOSING:
            seconds += command.service
        before[(command.slot, command.wish)] = command
    return seconds


def figures(
    entries: Sequence[Entry], transitions: Sequence[Transition], effect: float
) -> dict[str, Any]:
    """Return the figures of an act as plain JSON data (without those of the connections)."""
    commands = [e for e in entries if e.is_command]
    per_node = Counter(e.slot for e in commands)
    broken = sum(e.broken for e in entries)
    nodes = len({t.slot for t in transitions} | set(per_node)) or 1
    until = shown_at(entries, transitions)
    first = min((e.started for e in entries), default=None)
    executed = [e for e in entries if not e.refused]
    return {
        "requests": len(entries),
        "reads": sum(e.is_read for e in entries),
        "commands": len(commands),
        "refused_parallel": sum(e.status == 503 and e.refused for e in entries),
        "refused_logins": sum(e.status == 401 for e in entries),
        "faults": {kind.value: sum(e.fault is kind for e in entries) for kind in FaultKind},
        "commands_per_node_max": max(per_node.values(), default=0),
        "commands_per_node": dict(sorted((str(s), n) for s, n in per_node.items())),
        "unneeded_commands": sum(e.unneeded for e in commands),
        "unneeded": [e.number for e in commands if e.unneeded],
        "transitions_off": len({t.slot for t in transitions if not t.active}),
        "transitions_on": len({t.slot for t in transitions if t.active}),
        "requests_per_node_mean": (len(executed) - broken) / nodes,
        "requests_per_node_raw": len(entries) / nodes,
        "first_request_at": first,
        "shown_at": until,
        "seconds": until - first if until is not None and first is not None else None,
        "service_seconds": sum(e.service for e in executed),
        "serial_bound_seconds": serial_bound(entries, until, effect),
    }
