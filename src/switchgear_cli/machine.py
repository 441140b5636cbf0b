"""Commands for one machine: everything at once, the demo, and the simulators."""

import sys
from pathlib import Path

import click


@click.command()
@click.option("--state", type=click.Path(path_type=Path), envvar="SWITCHGEAR_STATE", default=None)
@click.option("--web-port", default=5240, show_default=True)
@click.option("--client-port", default=5241, show_default=True)
@click.option("--rack-port", default=5242, show_default=True)
@click.option("--sim-port-base", default=5250, show_default=True)
@click.option("--chassis", default=3, show_default=True, help="Number of simulated chassis.")
@click.option("--servers", default=64, show_default=True, help="Servers in each of them.")
def up(
    state: Path | None,
    web_port: int,
    client_port: int,
    rack_port: int,
    sim_port_base: int,
    chassis: int,
    servers: int,
) -> None:
    """Run everything on this machine: PostgreSQL, a region, a rack and simulated chassis.

    SWITCHGEAR_DSN names an existing PostgreSQL (13 or newer) to use instead of the embedded one.
    """
    from switchgear_cli.enrolling import enrol_in_process
    from switchgear_cli.up.up import UpOptions, run_up

    options = UpOptions(
        state=state,
        web_port=web_port,
        client_port=client_port,
        rack_port=rack_port,
        sim_port_base=sim_port_base,
        chassis=chassis,
        servers=servers,
    )
    sys.exit(run_up(options, enrol_in_process, lambda text: print(text, flush=True)))


@click.command()
@click.option("--nodes", default=64, show_default=True, help="Servers in each chassis.")
@click.option("--acts", default="1,2,3,4", show_default=True, help="Which acts are played.")
@click.option(
    "--sabotage", envvar="SABOTAGE", default="", help="parallel, double, early-ready or lost"
)
@click.option(
    "--limit", default=180.0, show_default=True, help="Seconds after which a node is stuck."
)
@click.option("--keep", is_flag=True, help="Keep the state folder for a look at its logs.")
def demo(nodes: int, acts: str, sabotage: str, limit: float, keep: bool) -> None:
    """Play the story: 192 machines in three chassis are released at once, and daemons are killed."""
    from switchgear_cli.demo.play import DemoOptions, run_demo

    wanted = [int(act) for act in acts.split(",") if act.strip().isdigit()]
    if not wanted or not set(wanted) <= {1, 2, 3, 4}:
        raise click.BadParameter("acts are 1, 2, 3 and 4")
    if not 4 <= nodes <= 250:
        raise click.BadParameter("a chassis has 4 to 250 servers")
    if sabotage:
        wanted = wanted[:1]  # one act is enough to be caught
    sys.exit(
        run_demo(DemoOptions(nodes=nodes, acts=wanted, sabotage=sabotage, limit=limit, keep=keep))
    )


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def simulate(arguments: tuple[str, ...]) -> None:
    """Run a simulated chassis: switchgear simulate sm15k --help."""
    from switchgear_sim.main import main

    sys.exit(main(list(arguments)))
