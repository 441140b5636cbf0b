"""Commands that only show: from the record, never by asking a chassis."""

from switchgear.client import Client, StillRunning
from switchgear_cli.acting import told
from switchgear_cli.exits import Exit
from switchgear_cli.output import ago
from switchgear_cli.session import Session


async def node_list(client: Client, session: Session, nodes: str) -> Exit:
    """List nodes."""
    found = await client.nodes(nodes)
    session.out.json({"nodes": found})
    session.out.table(
        ["node", "status", "power", "checked", "owner", "reason"],
        [(n.name, n.status, n.power, ago(n.seen_age), n.owner, n.fault or n.reason) for n in found],
    )
    session.out.say(f"{len(found)} nodes")
    return Exit.OK


async def node_show(client: Client, session: Session, name: str) -> Exit:
    """Show all that is known of one node."""
    for found in (await client.nodes(name))[:1]:
        session.out.json(found)
        rows = [
            ("chassis", f"{found.chassis} slot {found.slot}"),
            ("status", f"{found.status}, for {ago(found.status_age)}"),
            ("power", f"{found.power}, read {ago(found.seen_age)} ago"),
            ("wanted", found.wanted),
            ("owner", found.owner),
            ("reason", found.reason),
            ("last fault", found.fault),
            ("operation", found.operation),
            ("addresses", " ".join(found.addresses)),
        ]
        session.out.table(["node", found.name], rows)
    return Exit.OK


async def chassis_list(client: Client, session: Session) -> Exit:
    """List chassis."""
    found = await client.chassis()
    session.out.json({"chassis": found})
    session.out.table(
        ["chassis", "driver", "nodes", "rack", "health"],
        [(c.name, c.driver, c.nodes, c.rack, c.fault or "-") for c in found],
    )
    return Exit.OK


async def chassis_show(client: Client, session: Session, name: str) -> Exit:
    """Show one chassis."""
    (found,) = await client.chassis(name)
    session.out.json(found)
    rows = [
        ("driver", found.driver),
        *sorted(found.settings.items()),
        *[(secret, "***") for secret in found.secrets_set],
        ("nodes", found.nodes),
        ("rack", found.rack),
        ("fault", found.fault and f"{found.fault}, since {ago(found.fault_age)}"),
    ]
    session.out.table(["chassis", found.name], rows)
    return Exit.OK


async def discover(client: Client, session: Session, chassis: str) -> Exit:
    """Read a chassis and enrol what it has."""
    view = await client.discover(chassis)
    session.out.json(view)
    if view.fault is not None:
        session.out.problem(f"{chassis} can't be read: {view.fault}")
        return Exit.SOME_FAILED
    session.out.say(f"{chassis} has {view.found} slots; {view.enrolled} nodes are new")
    if view.enrolled:
        session.out.say(f"next: switchgear accept --wait @chassis:{chassis}")
    return Exit.OK


async def operation(client: Client, session: Session, operation: str) -> Exit:
    """Show one operation."""
    found = await client.operation(operation)
    session.out.json(found)
    waits = None if found.place is None else f"place {found.place}, about {found.wait or 0:.0f} s"
    rows = [
        ("node", f"{found.node} on {found.chassis}"),
        ("wish", found.wish),
        ("state", found.state),
        ("outcome", found.outcome),
        ("changed", found.changed),
        ("power", found.power),
        ("reason", found.fault),
        ("waits", waits),
        ("commands", found.commands),
        ("asked", f"{ago(found.age)} ago by {found.requested_by}"),
    ]
    session.out.table(["operation", found.operation], rows)
    return Exit.OK


async def request(client: Client, session: Session, request: str, wait: float | None) -> Exit:
    """Show a request, or wait for its end."""
    if wait is None:
        view = await client.request(request)
        if view.running:
            session.out.json({"request": view.request, "counts": view, "running": True})
            session.out.say(f"request {request}: {view.running} of {view.nodes} nodes still run")
            return Exit.STILL_RUNNING
    session.note = f"request {request} goes on"
    with session.out.progress(f"request {request}", (await client.request(request)).nodes) as show:
        try:
            view, items = await client.follow(request, show, wait or None)
        except StillRunning as error:
            session.out.problem(str(error))
            return Exit.STILL_RUNNING
    return told(session, view, items)
