"""Commands that change something for many nodes: ask, wait if wanted, and tell what became of each."""

import sys
from collections.abc import Sequence

import click
from attrs import frozen

from switchgear import nodeset
from switchgear.client import Client, StillRunning
from switchgear.operation import Outcome
from switchgear.wire.client import Ask, AskAnswer, ItemView, RequestView
from switchgear_cli.exits import Exit
from switchgear_cli.session import Session

#: More nodes than this are confirmed by a person at a terminal.
CONFIRM_ABOVE = 20


@frozen(kw_only=True)
class Manner:
    """How an action is done. `wait`: None = not at all, 0 = until it ends, else seconds."""

    wait: float | None
    dry_run: bool
    yes: bool


async def act(client: Client, session: Session, ask: Ask, manner: Manner) -> Exit:
    """Carry out an action as the user wants it."""
    if manner.dry_run or (not manner.yes and sys.stdin.isatty()):
        planned = await client.ask(_dry(ask))
        if manner.dry_run:
            return _told_dry(session, ask, planned)
        if planned.nodes > CONFIRM_ABOVE and not _confirmed(ask, planned):
            session.out.problem("nothing was done")
            return Exit.REFUSED
    answer = await client.ask(ask)
    if manner.wait is None:
        return await _told_request(client, session, answer)
    session.note = (
        f"request {answer.request} goes on; see `switchgear request show {answer.request}`"
    )
    timeout = manner.wait or None
    with session.out.progress(f"{ask.verb} {ask.nodes[:40]}", answer.nodes) as show:
        try:
            view, items = await client.follow(answer.request, show, timeout)
        except StillRunning as error:
            session.out.json({"request": answer.request, "running": True})
            session.out.problem(str(error))
            return Exit.STILL_RUNNING
    return told(session, view, items)


def told(session: Session, view: RequestView, items: Sequence[ItemView]) -> Exit:
    """Tell what became of each node; return the exit code."""
    wrong = [item for item in items if item.outcome is not Outcome.SUCCEEDED]
    failed = nodeset.fold([item.node for item in wrong]) if wrong else ""
    session.out.json(
        {"request": view.request, "counts": view, "failed": failed, "items": list(items)}
    )
    if wrong:
        rows = [(i.node, "refused" if i.refused else i.outcome, i.power, i.fault) for i in wrong]
        session.out.table(["node", "outcome", "power", "reason"], rows)
    session.out.say(f"request {view.request}: {view.succeeded} of {view.nodes} nodes reached")
    if failed:
        session.out.say(f"failed: {failed}")
    if view.refused == view.nodes:
        return Exit.REFUSED
    return Exit.SOME_FAILED if wrong else Exit.OK


def _dry(ask: Ask) -> Ask:
    from attrs import evolve

    return evolve(ask, dry_run=True)


def _told_dry(session: Session, ask: Ask, planned: AskAnswer) -> Exit:
    session.out.json({"dry_run": True, "nodes": planned.nodes, "refused": planned.refused})
    session.out.say(
        f"would {ask.verb} {planned.nodes} nodes; {planned.refused} of them would be refused"
    )
    return Exit.REFUSED if planned.refused == planned.nodes else Exit.OK


def _confirmed(ask: Ask, planned: AskAnswer) -> bool:
    return click.confirm(f"{ask.verb} {planned.nodes} nodes?", default=False, err=True)


async def _told_request(client: Client, session: Session, answer: AskAnswer) -> Exit:
    """Tell the id of a request that is not waited for, and what was refused at once."""
    refused = (
        [item for item in await client.items(answer.request) if item.refused]
        if answer.refused
        else []
    )
    session.out.json({"request": answer.request, "nodes": answer.nodes, "refused": refused})
    if refused:
        session.out.table(["node", "refused because"], [(i.node, i.fault) for i in refused])
    session.out.say(f"request {answer.request}: {answer.nodes - answer.refused} nodes accepted")
    if answer.refused == answer.nodes:
        return Exit.REFUSED
    return Exit.SOME_FAILED if answer.refused else Exit.OK
