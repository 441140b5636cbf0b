"""The judge: which rules an act broke. Figures come from the chassis' own records, not from the product."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

#: Bars of the acts.
MAX_THREADS = 40
MAX_MEAN_REQUESTS = 1.5
MAX_TIMES_BOUND = 1.25
#: A kill counts only while this share of the nodes is off.
KILL_FROM, KILL_TO = 0.25, 0.75


@frozen(kw_only=True)
class Observed:
    """What was seen of an act from outside of the chassis. `reached`: nodes that got where they should.

    `early`: nodes that the region called ready while they were on. `not_off`: nodes on at its end.
    `holding`: ready nodes with an owner or an address. `killed_at`: share that was off at the kill.
    """

    act: int
    nodes: int
    reached: int
    peak_threads: int
    peak_db_connections: int
    db_budget: int
    early: Sequence[str] = ()
    not_off: int = 0
    holding: int = 0
    killed_at: float | None = None
    timed: bool = False


@frozen(kw_only=True)
class Verdict:
    """The figures of an act, as printed, and the rules that it broke."""

    figures: Mapping[str, Any]
    broken: Sequence[str] = field(factory=list)


def judge(observed: Observed, chassis: Sequence[Mapping[str, Any]]) -> Verdict:
    """Judge one act by what was observed and by the figures of each chassis."""
    figures = figures_of(observed, chassis)
    rules = [
        *_reached(observed, chassis),
        *_hardware(figures),
        *_limits(observed, figures),
    ]
    return Verdict(figures=figures, broken=[text for holds, text in rules if not holds])


def figures_of(observed: Observed, chassis: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures in the order of the printed object."""
    slowest = max(chassis, key=lambda one: one["seconds"] or float("inf"))
    ends = [one["shown_at"] for one in chassis]
    begins = [one["first_request_at"] for one in chassis]
    complete = None not in ends and None not in begins
    nodes = sum(len(one["commands_per_node"]) for one in chassis) or 1
    requests = sum(one["requests_per_node_mean"] * len(one["commands_per_node"]) for one in chassis)
    return {
        "act": observed.act,
        "nodes": observed.nodes,
        "ready": observed.reached,
        "stuck": observed.nodes - observed.reached,
        "seconds": round(max(ends) - min(begins), 2) if complete else None,
        "serial_bound_seconds": round(slowest["serial_bound_seconds"], 2),
        "max_sessions_per_chassis": max(one["max_sessions"] for one in chassis),
        "commands_per_node_max": max(one["commands_per_node_max"] for one in chassis),
        "unneeded_commands": sum(one["unneeded_commands"] for one in chassis),
        "requests_per_node_mean": round(requests / nodes, 3),
        "peak_threads": observed.peak_threads,
        "peak_db_connections": observed.peak_db_connections,
        "faults": _summed([one["faults"] for one in chassis]),
        "logins": sum(one["logins"] for one in chassis),
        "refused_parallel": sum(one["refused_parallel"] for one in chassis),
    }


def _summed(faults: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {kind: sum(one[kind] for one in faults) for kind in faults[0]}


Rule = tuple[bool, str]


def _reached(observed: Observed, chassis: Sequence[Mapping[str, Any]]) -> list[Rule]:
    went_off = sum(one["transitions_off"] for one in chassis)
    killed = observed.killed_at
    return [
        (
            observed.reached == observed.nodes,
            f"{observed.nodes - observed.reached} nodes are stuck",
        ),
        (went_off == observed.nodes, f"{went_off} of {observed.nodes} nodes really went off"),
        (observed.not_off == 0, f"{observed.not_off} nodes are on at the end"),
        (not observed.early, f"{len(observed.early)} nodes were called ready while they were on"),
        (observed.holding == 0, f"{observed.holding} ready nodes keep an owner or an address"),
        (
            killed is None or KILL_FROM <= killed <= KILL_TO,
            f"the kill came when {100 * (killed or 0):.0f} % were off",
        ),
    ]


def _hardware(figures: Mapping[str, Any]) -> list[Rule]:
    sessions = figures["max_sessions_per_chassis"]
    unneeded = figures["unneeded_commands"]
    killed_racks = figures["act"] == 3
    refused = figures["refused_parallel"]
    return [
        (sessions <= 1, f"a chassis had {sessions} sessions at once"),
        # A request of a rack that was killed goes on in the chassis, which may refuse the next one once.
        (killed_racks or refused == 0, f"{refused} requests came while another was executed"),
        (unneeded == 0, f"{unneeded} commands that no node needed"),
        (sum(figures["faults"].values()) > 0, "no fault was met: the act does not count"),
    ]


def _limits(observed: Observed, figures: Mapping[str, Any]) -> list[Rule]:
    rules = [
        (
            observed.peak_threads <= MAX_THREADS,
            f"a daemon had {observed.peak_threads} threads, {MAX_THREADS} are allowed",
        ),
        (
            observed.peak_db_connections <= observed.db_budget,
            f"{observed.peak_db_connections} database connections, {observed.db_budget} are allowed",
        ),
    ]
    if not observed.timed:
        return rules
    seconds, bound = figures["seconds"], figures["serial_bound_seconds"]
    mean = figures["requests_per_node_mean"]
    return [
        *rules,
        (
            seconds is not None and seconds <= MAX_TIMES_BOUND * bound,
            f"{seconds} s are more than {MAX_TIMES_BOUND} x {bound} s",
        ),
        (
            mean <= MAX_MEAN_REQUESTS,
            f"{mean} requests for each node, {MAX_MEAN_REQUESTS} are allowed",
        ),
    ]
