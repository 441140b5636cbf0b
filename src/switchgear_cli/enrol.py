"""Enrolling simulated chassis as a person would: add (or set the address), discover, accept."""

from collections.abc import Callable, Mapping

from switchgear.client import Client
from switchgear.errors import SwitchgearError
from switchgear.secret import Secret
from switchgear_cli.up.stack import Stack

#: What differs from a real SM15K: the simulated ones show an effect within 3 s.
QUICK = {"effect_limit": "3.2", "usual_effect": "3"}


async def enrol(
    client: Client,
    stack: Stack,
    tell: Callable[[str], None],
    settings: Mapping[str, str] = QUICK,
) -> None:
    """Make the region know every chassis of the stack and its nodes, and take new nodes into use."""
    known = {chassis.name for chassis in await client.chassis()}
    secrets = {"password": Secret(stack.password())}
    for plan in stack.plan.chassis:
        wanted = {"url": plan.url, "user": "admin", **settings}
        if plan.name in known:
            await client.set_chassis(plan.name, wanted, secrets)
        else:
            await client.add_chassis(plan.name, "seamicro", wanted, secrets)
    for plan in stack.plan.chassis:
        if plan.name not in known:
            await _take_into_use(client, plan.name, tell)


async def _take_into_use(client: Client, chassis: str, tell: Callable[[str], None]) -> None:
    found = await client.discover(chassis)
    if found.fault is not None:
        raise SwitchgearError(f"{chassis} can't be read: {found.fault}")
    answer = await client.accept(f"@chassis:{chassis}")
    view, _ = await client.follow(answer.request, timeout=300)
    tell(f"{chassis}: {found.enrolled} nodes enrolled, {view.succeeded} accepted")
