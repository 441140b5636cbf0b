"""``switchgear up``: everything on one machine, for a person to use at once."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from switchgear_cli.up.errors import CantStart
from switchgear_cli.up.existing import check_server
from switchgear_cli.up.folder import StateFolder, default_folder
from switchgear_cli.up.stack import Stack, StackPlan, simulated
from switchgear_cli.up.watch import stop_signals, until_stopped

#: Exit code when something can't start.
CANT_START = 3


@frozen(kw_only=True)
class UpOptions:
    """What the user may choose. `state`: the state folder; None: the checkout's, or root's own."""

    state: Path | None = None
    web_port: int = 5240
    client_port: int = 5241
    rack_port: int = 5242
    sim_port_base: int = 5250
    chassis: int = 3
    servers: int = 64
    dsn: str | None = None


def run_up(options: UpOptions, enrol: Callable[[Stack], None], tell: Callable[[str], None]) -> int:
    """Start everything, enrol the chassis, wait for a stop signal, stop everything; return the exit code."""
    with stop_signals() as came:
        try:
            folder = StateFolder.take(options.state or default_folder(Path.cwd()))
        except CantStart as error:
            tell(f"switchgear up: {error}")
            return CANT_START
        try:
            return _run(options, folder, enrol, tell, came)
        finally:
            folder.leave()


def _run(
    options: UpOptions,
    folder: StateFolder,
    enrol: Callable[[Stack], None],
    tell: Callable[[str], None],
    came: Callable[[float], bool],
) -> int:
    try:
        stack = Stack(folder, _plan(options), tell)
        tell(f"starting; all state is in {folder.path}")
        stack.start()
    except CantStart as error:
        tell(f"switchgear up: {error}")
        return CANT_START
    try:
        enrol(stack)
        for line in _welcome(options):
            tell(line)
        until_stopped(stack, tell, came)
    finally:
        tell("stopping")
        stack.stop()
        tell("stopped")
    return 0


def _plan(options: UpOptions) -> StackPlan:
    dsn = options.dsn or os.environ.get("SWITCHGEAR_DSN") or None
    if dsn is not None:
        check_server(dsn)

    def chassis_options(number: int) -> Sequence[str]:
        return ["--servers", str(options.servers), "--seed", str(number), "--initial", "off"]

    return StackPlan(
        web_port=options.web_port,
        client_port=options.client_port,
        rack_port=options.rack_port,
        chassis=simulated(options.chassis, chassis_options, options.sim_port_base),
        dsn=dsn,
    )


def _welcome(options: UpOptions) -> list[str]:
    region = "" if options.client_port == 5241 else f" --region 127.0.0.1:{options.client_port}"
    command = f".venv/bin/switchgear{region}"
    return [
        "",
        f"  The web page:  http://127.0.0.1:{options.web_port}",
        "",
        "  To try next, in another terminal:",
        f"    {command} node list @chassis:sm-1",
        f"    {command} power on --wait 'sm-1-[0-3]-0'",
        f"    {command} allocate 'sm-2-[0-7]-0'",
        f"    {command} deploy --wait 'sm-2-[0-7]-0'",
        f"    {command} release --wait @status:deployed",
        f"    {command} watch",
        "",
        "  Ctrl-C stops everything; what happened is kept for the next start.",
        "",
    ]
