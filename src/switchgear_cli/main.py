"""The ``switchgear`` command: a client of the region for people and their scripts."""

import getpass
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from switchgear.client import Client
from switchgear.life import Verb
from switchgear.wire.client import Ask, EventView
from switchgear_cli import acting, machine, secretly, showing
from switchgear_cli.exits import Exit
from switchgear_cli.output import Output
from switchgear_cli.session import Session

F = TypeVar("F", bound=Callable[..., Any])


class _Waiting(click.Command):
    """A command with ``--wait[=SECONDS]``: only ``=`` gives it a value, the next word never does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words after the command's name."""
        return super().parse_args(ctx, ["--wait=0" if word == "--wait" else word for word in args])


class _Wait(click.ParamType[float]):
    """``--wait`` or ``--wait=SECONDS``."""

    name = "seconds"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the seconds; 0 means until the end."""
        try:
            seconds = float(value)
        except ValueError:
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        if not 0 <= seconds < 1e7:
            self.fail(f"{value} seconds can't be waited", param, ctx)
        return seconds


def _manner(command: F) -> F:
    """Add the options that every action has."""
    options = (
        click.option(
            "--wait",
            type=_Wait(),
            default=None,
            metavar="[=SECONDS]",
            help="Wait until every node has its outcome, or for so many seconds.",
        ),
        click.option("--dry-run", is_flag=True, help="Check everything, change nothing."),
        click.option("--yes", is_flag=True, help="Do not ask for a confirmation."),
    )
    for option in options:
        command = option(command)
    return command


def _own_name() -> str:
    """Return who we are: the user's name, as far as it can be one of a client."""
    name = re.sub(r"[^A-Za-z0-9_.\-]", "-", getpass.getuser())[:100]
    return name if name[:1].isalnum() else "cli"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--region",
    envvar="SWITCHGEAR_REGION",
    default="127.0.0.1:5241",
    show_default=True,
    help="HOST:PORT of the region's port for clients.",
)
@click.option(
    "--as", "name", default=_own_name, help="The client's name: owner of what it allocates."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.pass_context
def cli(ctx: click.Context, region: str, name: str, as_json: bool) -> None:
    """Power management for racks of machines.

    NODES is a node set: n[001-192], @chassis:sm-1, @status:broken, owner=juju, @all; sets are joined by
    commas, "!" takes away and "&" intersects.
    """
    ctx.obj = Session(region, name, Output(as_json))


def _done(code: int) -> None:
    sys.exit(code)


def _action(session: Session, ask: Ask, wait: float | None, dry_run: bool, yes: bool) -> None:
    manner = acting.Manner(wait=wait, dry_run=dry_run, yes=yes or session.out.as_json)
    _done(session.run(lambda client: acting.act(client, session, ask, manner)))


# -------------------------------------------------------------------- actions


def _add_action(group: click.Group, name: str, verb: Verb, help_text: str) -> None:
    @group.command(name, help=help_text, cls=_Waiting)
    @click.argument("nodes")
    @_manner
    @click.pass_obj
    def command(session: Session, nodes: str, wait: float | None, dry_run: bool, yes: bool) -> None:
        _action(session, Ask(verb=verb, nodes=nodes), wait, dry_run, yes)


@cli.group()
def power() -> None:
    """Switch nodes on or off, or read their power afresh."""


_add_action(power, "on", Verb.ON, "Switch NODES on.")
_add_action(power, "off", Verb.OFF, "Switch NODES off, hard.")
_add_action(power, "query", Verb.QUERY, "Read the power of NODES afresh.")
_add_action(
    cli, "accept", Verb.ACCEPT, "Take new NODES into use, after a check that shows them off."
)
_add_action(cli, "deploy", Verb.DEPLOY, "Switch allocated NODES on; deployed when seen on.")
_add_action(cli, "release", Verb.RELEASE, "Give NODES back: off, seen off, then ready.")
_add_action(cli, "mark-fixed", Verb.MARK_FIXED, "Put broken NODES back to what they were.")


@cli.command(cls=_Waiting)
@click.argument("nodes")
@click.option("--owner", default=None, help="For whom; without it, for this client.")
@_manner
@click.pass_obj
def allocate(
    session: Session, nodes: str, owner: str | None, wait: float | None, dry_run: bool, yes: bool
) -> None:
    """Take ready NODES for an owner."""
    _action(session, Ask(verb=Verb.ALLOCATE, nodes=nodes, owner=owner), wait, dry_run, yes)


@cli.command("mark-broken", cls=_Waiting)
@click.argument("nodes")
@click.option("--reason", required=True, help="Why, in up to 1000 characters.")
@click.option("--leave-power", is_flag=True, help="Do not switch the nodes off.")
@_manner
@click.pass_obj
def mark_broken(
    session: Session,
    nodes: str,
    reason: str,
    leave_power: bool,
    wait: float | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Take NODES out of use, with a reason."""
    ask = Ask(verb=Verb.MARK_BROKEN, nodes=nodes, reason=reason, power_off=not leave_power)
    _action(session, ask, wait, dry_run, yes)


# -------------------------------------------------------------------- chassis and nodes


@cli.group()
def chassis() -> None:
    """Add, change and show chassis."""


_SECRETS = (
    click.option("--secret", "asked", multiple=True, metavar="NAME", help="Ask for it, hidden."),
    click.option("--secret-file", "files", multiple=True, metavar="NAME=FILE", help="From a file."),
    click.option(
        "--secret-stdin", "piped", default=None, metavar="NAME", help="From standard input."
    ),
    click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A setting."),
)


def _settings_and_secrets(command: F) -> F:
    for option in _SECRETS:
        command = option(command)
    return command


@chassis.command("add")
@click.argument("name")
@click.option("--driver", default="seamicro", show_default=True)
@_settings_and_secrets
@click.pass_obj
def chassis_add(
    session: Session,
    name: str,
    driver: str,
    pairs: tuple[str, ...],
    asked: tuple[str, ...],
    files: tuple[str, ...],
    piped: str | None,
) -> None:
    """Enrol the chassis NAME."""
    settings, secrets = secretly.settings(pairs), secretly.gather(asked, files, piped)

    async def run(client: Client) -> Exit:
        await client.add_chassis(name, driver, settings, secrets)
        session.out.say(f"{name} is enrolled; next: switchgear discover {name}")
        session.out.json({"chassis": name})
        return Exit.OK

    _done(session.run(run))


@chassis.command("set")
@click.argument("name")
@_settings_and_secrets
@click.pass_obj
def chassis_set(
    session: Session,
    name: str,
    pairs: tuple[str, ...],
    asked: tuple[str, ...],
    files: tuple[str, ...],
    piped: str | None,
) -> None:
    """Change some settings or secrets of the chassis NAME; the rest stays."""
    settings, secrets = secretly.settings(pairs), secretly.gather(asked, files, piped)

    async def run(client: Client) -> Exit:
        await client.set_chassis(name, settings, secrets)
        nodes = (await client.chassis(name))[0].nodes
        session.out.say(f"{name} is changed, for all of its {nodes} nodes")
        session.out.json({"chassis": name, "nodes": nodes})
        return Exit.OK

    _done(session.run(run))


@chassis.command("list")
@click.pass_obj
def chassis_list(session: Session) -> None:
    """List all chassis."""
    _done(session.run(lambda client: showing.chassis_list(client, session)))


@chassis.command("show")
@click.argument("name")
@click.pass_obj
def chassis_show(session: Session, name: str) -> None:
    """Show the chassis NAME: its settings (never its secrets), its rack and its health."""
    _done(session.run(lambda client: showing.chassis_show(client, session, name)))


@cli.command()
@click.argument("chassis")
@click.pass_obj
def discover(session: Session, chassis: str) -> None:
    """Read CHASSIS and enrol the nodes it has; changes nothing on it."""
    _done(session.run(lambda client: showing.discover(client, session, chassis)))


@cli.group()
def node() -> None:
    """Add and show nodes."""


@node.command("add")
@click.argument("name")
@click.option("--chassis", required=True)
@click.option("--slot", required=True, help="How the chassis names it, such as 7/0.")
@click.option("--address", "addresses", multiple=True, help="A static IP address that it holds.")
@click.pass_obj
def node_add(
    session: Session, name: str, chassis: str, slot: str, addresses: tuple[str, ...]
) -> None:
    """Enrol the node NAME by hand."""

    async def run(client: Client) -> Exit:
        await client.add_node(name, chassis, slot, list(addresses))
        session.out.say(f"{name} is enrolled as new; next: switchgear accept {name}")
        session.out.json({"node": name})
        return Exit.OK

    _done(session.run(run))


@node.command("list")
@click.argument("nodes", default="")
@click.pass_obj
def node_list(session: Session, nodes: str) -> None:
    """List NODES (without: all) as the record has them; no chassis is asked."""
    _done(session.run(lambda client: showing.node_list(client, session, nodes)))


@node.command("show")
@click.argument("name")
@click.pass_obj
def node_show(session: Session, name: str) -> None:
    """Show all that is known of the node NAME."""
    _done(session.run(lambda client: showing.node_show(client, session, name)))


# -------------------------------------------------------------------- operations and events


@cli.group()
def operation() -> None:
    """Follow single operations."""


@operation.command("show")
@click.argument("operation")
@click.pass_obj
def operation_show(session: Session, operation: str) -> None:
    """Show one OPERATION, such as 1.4711."""
    _done(session.run(lambda client: showing.operation(client, session, operation)))


@cli.group()
def request() -> None:
    """Follow requests."""


@request.command("show", cls=_Waiting)
@click.argument("request")
@click.option("--wait", type=_Wait(), default=None, metavar="[=SECONDS]")
@click.pass_obj
def request_show(session: Session, request: str, wait: float | None) -> None:
    """Show how far REQUEST is, and what became of each of its nodes."""
    _done(session.run(lambda client: showing.request(client, session, request, wait)))


@cli.command()
@click.pass_obj
def watch(session: Session) -> None:
    """Print what happens, until Ctrl-C."""

    def tell(event: EventView) -> None:
        session.out.json(event)
        where = event.node or event.chassis or event.operation or ""
        session.out.say(f"{event.at[11:19]}  {event.kind:<9} {where:<14} {event.text}")

    async def run(client: Client) -> Exit:
        from twisted.internet.defer import Deferred

        await client.subscribe(tell)
        await Deferred()
        return Exit.OK

    _done(session.run(run))


cli.add_command(machine.up)
cli.add_command(machine.demo)
cli.add_command(machine.simulate)


def main() -> None:
    """Run the command; the entry point of ``switchgear``."""
    cli(prog_name="switchgear")


if __name__ == "__main__":
    main()
