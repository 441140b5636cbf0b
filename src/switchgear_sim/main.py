"""The command line of the simulators."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from switchgear_sim import keeping
from switchgear_sim.sm15k.chassis import SimulatedChassis
from switchgear_sim.sm15k.knobs import Knobs
from switchgear_sim.sm15k.model import Model

#: Seconds between two looks whether the power has to be saved.
SAVE_EVERY = 0.5


def main(arguments: Sequence[str]) -> int:
    """Run a simulated chassis until SIGTERM. Prints one line of JSON with its ports when it is ready."""
    options = parser().parse_args(arguments)
    if options.die_with_parent:
        keeping.die_with_parent()
    serve(options, knobs_of(options))
    return 0


def parser() -> argparse.ArgumentParser:
    """Build the command line."""
    top = argparse.ArgumentParser(prog="switchgear simulate", description=main.__doc__)
    kinds = top.add_subparsers(required=True, metavar="KIND")
    sm15k = kinds.add_parser("sm15k", help="a SeaMicro SM15K, REST API v2.0")
    add = sm15k.add_argument
    add("--host", default="127.0.0.1", help="a loopback address (default 127.0.0.1)")
    add("--port", type=int, default=0, help="port of the REST API; 0: a free one")
    add("--audit-port", type=int, default=0, help="port of the side door; 0: a free one")
    add("--servers", type=int, default=64, help="number of servers (default 64)")
    add("--user", default="admin")
    add("--password", default=None, help="for tests; see --password-file")
    add("--password-file", type=Path, default=None, help="file with the password (one line)")
    add("--seed", type=int, default=1, help="same seed, same faults")
    add("--initial", choices=("on", "off"), default="on", help="power of all servers at first")
    add("--state", type=Path, default=None, help="file that keeps the power over restarts")
    add("--die-with-parent", action="store_true", help="end when the starting process ends")
    for name, default, meaning in _RANGES:
        add(f"--{name}", type=float, nargs=2, default=default, metavar=("MIN", "MAX"), help=meaning)
    for name, share, meaning in _RATES:
        add(f"--{name}", type=float, default=share, metavar="SHARE", help=meaning)
    return top


_RANGES = (
    ("service", (0.05, 0.15), "seconds that a request takes"),
    ("off-effect", (1.0, 3.0), "seconds from a power-off to active: false"),
    ("on-effect", (1.0, 3.0), "seconds from a power-on to active: true"),
    ("slow", (3.0, 10.0), "seconds that a slow request takes"),
)
_RATES = (
    ("drop-rate", 0.01, "requests that lose their connection, half of them after execution"),
    ("error-rate", 0.01, "requests that are answered 500 and not executed"),
    ("slow-rate", 0.005, "requests that are slow"),
)


def knobs_of(options: argparse.Namespace) -> Knobs:
    """Return the knobs that the command line asks for."""
    password = options.password
    if options.password_file is not None:
        password = options.password_file.read_text(encoding="utf-8").rstrip("\n")
    service = tuple(options.service)
    return Knobs(
        servers=options.servers,
        user=options.user,
        password=password if password is not None else Knobs().password,
        read_service=service,
        command_service=service,
        off_effect=tuple(options.off_effect),
        on_effect=tuple(options.on_effect),
        slow=tuple(options.slow),
        drop_rate=options.drop_rate,
        error_rate=options.error_rate,
        slow_rate=options.slow_rate,
    )


def serve(options: argparse.Namespace, knobs: Knobs) -> None:
    """Build the chassis and its two ports, and run the reactor."""
    from twisted.internet import reactor as installed

    from switchgear_sim.sm15k.server import QuietSite, RestPort, SidePort

    reactor: Any = installed

    model = Model.of(knobs.servers, options.initial == "on")
    chassis = SimulatedChassis(knobs, Random(options.seed), model)
    if options.state is not None:
        keeping.load(options.state, model)
        _keep(options.state, model, reactor)
    rest = RestPort(chassis, reactor, options.host, options.port)
    side = QuietSite(SidePort(chassis, rest, reactor))
    listening = reactor.listenTCP(options.audit_port, side, interface=options.host)
    print(json.dumps({"port": rest.port, "audit_port": listening.getHost().port}), flush=True)
    reactor.run()


def _keep(path: Path, model: Model, reactor: Any) -> None:
    """Save the power whenever it changed, and at the end."""
    from twisted.internet.task import LoopingCall

    saved: dict[str, object] = {}

    def look() -> None:
        now = {slot: (s.active, s.target) for slot, s in model.servers.items()}
        if now != saved:
            keeping.save(path, model)
            saved.clear()
            saved.update(now)

    LoopingCall(look).start(SAVE_EVERY)
    reactor.addSystemEventTrigger("before", "shutdown", keeping.save, path, model)
