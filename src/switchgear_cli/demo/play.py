"""Runs the demo: a fresh stack, the acts, the judge's table, and the exit code."""

import shutil
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen
from rich.console import Console
from twisted.internet.defer import Deferred

from regiond.store.counting import ConnectionCounter
from switchgear.client import Client
from switchgear.errors import SwitchgearError
from switchgear_cli.demo.acts import ACT_LIMIT, Acts, NotDeployed
from switchgear_cli.demo.chassis import SideDoor, Truth
from switchgear_cli.demo.gauging import Gauges
from switchgear_cli.demo.judge import Verdict
from switchgear_cli.demo.printing import print_verdicts
from switchgear_cli.demo.sabotage import NoSuchSabotage, sabotaged
from switchgear_cli.enrol import QUICK
from switchgear_cli.output import Output
from switchgear_cli.up.errors import CantStart
from switchgear_cli.up.folder import StateFolder
from switchgear_cli.up.plans import Enrolment
from switchgear_cli.up.ports import HOST, free_port
from switchgear_cli.up.stack import Stack, StackPlan, simulated

#: Chassis, and the database connections that the region may use beside its listener.
CHASSIS = 3
LEASES = 10
#: Pool of the act that must not hang although no thread can be added.
TIGHT = 2
#: Exit codes.
GOOD, BROKEN, USAGE, CANT_START, INTERRUPTED = 0, 1, 2, 3, 130


@frozen(kw_only=True)
class DemoOptions:
    """What is played. `nodes`: in each chassis; `acts` in their order; `sabotage`: empty for none."""

    nodes: int = 64
    acts: Sequence[int] = field(factory=lambda: [1, 2, 3, 4])
    sabotage: str = ""
    keep: bool = False
    seed: int = 3  # no slow request falls into act 1, whose bound leaves some of them out
    limit: float = ACT_LIMIT


def run_demo(options: DemoOptions) -> int:
    """Play the demo; return 0 only if nothing is stuck and no rule was broken."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 160
    place = Path(tempfile.mkdtemp(prefix="switchgear-demo-"))
    place.chmod(0o711)
    try:
        return _in_place(options, place, console)
    except NoSuchSabotage as error:
        console.print(f"switchgear demo: {error}")
        return USAGE
    except CantStart as error:
        console.print(f"switchgear demo: {error}")
        return CANT_START
    finally:
        if options.keep:
            console.print(f"kept: {place}")
        else:
            shutil.rmtree(place, ignore_errors=True)


def _in_place(options: DemoOptions, place: Path, console: Console) -> int:
    code = sabotaged(options.sabotage, place / "src") if options.sabotage else None
    folder = StateFolder.take(place / "state")
    signal.signal(signal.SIGTERM, _interrupt)
    stack = Stack(folder, plan(options, code), console.print)
    try:
        console.print(f"starting PostgreSQL, regiond, rackd and {CHASSIS} chassis")
        stack.start()
        verdicts = _play(options, stack, console)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        stack.stop()
        folder.leave()
    print_verdicts(verdicts, console)
    complete = len(verdicts) == len(options.acts)
    return GOOD if complete and not any(verdict.broken for verdict in verdicts) else BROKEN


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def plan(options: DemoOptions, code: Path | None) -> StackPlan:
    """Plan the stack. Fewer nodes make fewer requests, so that faults are made more likely for them."""
    factor = 64 / options.nodes
    rates = [
        "--drop-rate",
        0.01 * factor,
        "--error-rate",
        0.01 * factor,
        "--slow-rate",
        0.005 * factor,
    ]

    def chassis(number: int) -> list[str]:
        seed = options.seed * 100 + number
        own = ["--servers", options.nodes, "--initial", "off", "--seed", seed]
        return [str(word) for word in [*own, *rates]]

    return StackPlan(
        web_port=free_port(),
        client_port=free_port(),
        rack_port=free_port(),
        chassis=simulated(CHASSIS, chassis),
        leases=LEASES,
        pythonpath=None if code is None else str(code),
    )


def _play(options: DemoOptions, stack: Stack, console: Console) -> list[Verdict]:
    """Run a reactor for the client until all acts are over."""
    from twisted.internet import reactor as installed

    reactor: Any = installed
    verdicts: list[Verdict] = []
    failures: list[Any] = []
    playing = Deferred.fromCoroutine(_acts(reactor, options, stack, console, verdicts))
    playing.addErrback(failures.append)
    playing.addBoth(lambda _: reactor.callLater(0, reactor.stop))
    reactor.run()
    for failure in failures:
        if failure.check(NotDeployed, SwitchgearError, CantStart) is None:
            failure.raiseException()
        console.print(f"[red]the demo ended early: {failure.value}")
    return verdicts


async def _acts(
    reactor: Any, options: DemoOptions, stack: Stack, console: Console, verdicts: list[Verdict]
) -> None:
    region = f"{HOST}:{stack.plan.client_port}"
    client = await Client.connect(reactor, region, name="demo", patience=60)
    counter = ConnectionCounter(stack.dsn)
    try:
        await _enrol(client, stack, options.nodes)
        budget = LEASES + 1
        console.print(
            f"at most {budget} database connections, {stack.plan.ceiling} threads a daemon"
        )
        acts = Acts(
            reactor=reactor,
            client=client,
            stack=stack,
            truth=Truth([SideDoor(chassis) for chassis in stack.plan.chassis]),
            gauges=Gauges(stack, counter),
            budget=budget,
            limit=options.limit,
            out=Output(),
            console=console,
        )
        for act in options.acts:
            if act == 3:
                console.print(f"   act 3 has a pool of {TIGHT} threads that can't grow")
                stack.resize(TIGHT, TIGHT)
            verdicts.append(await acts.play(act))
            if act == 3:
                stack.resize(10, 40)
    finally:
        counter.close()
        await client.close()


async def _enrol(client: Client, stack: Stack, nodes: int) -> None:
    """Enrol every node with a static address, and take it into use."""
    given = Enrolment.of(stack)
    for number, (name, url) in enumerate(given.urls.items()):
        settings = {"url": url, "user": "admin", **QUICK}
        await client.add_chassis(name, "seamicro", settings, {"password": given.password})
        for slot in range(nodes):
            address = f"10.0.{number}.{slot + 1}"
            await client.add_node(f"{name}-{slot:02}", name, f"{slot}/0", [address])
    answer = await client.accept("@all")
    view, _ = await client.follow(answer.request, timeout=120)
    if view.succeeded != view.nodes:
        raise NotDeployed(f"{view.succeeded} of {view.nodes} new nodes were accepted")
