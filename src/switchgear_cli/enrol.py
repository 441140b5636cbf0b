"""Enrolling simulated chassis as a person would: add (or set the address), discover, accept."""

from collections.abc import Callable, Mapping

from switchgear.client import Client
from switchgear.errors import SwitchgearError
from switchgear_cli.up.plans import Enrolment

#: What differs from a real SM15K: the simulated ones show an effect within 3 s.
QUICK = {"effect_limit": "3.2", "usual_effect": "3"}


async def enrol(
    client: Client,
    given: Enrolment,
    tell: Callable[[str], None],
    settings: Mapping[str, str] = QUICK,
) -> None:
    """Make the region know every chassis and its nodes, and take new nodes into use."""
    known = {chassis.name: chassis for chassis in await client.chassis()}
    for name, url in given.urls.items():
        wanted = {"url": url, "user": "admin", **settings}
        if name not in known:
            await client.add_chassis(name, "seamicro", wanted, {"password": given.password})
        elif any(known[name].settings.get(key) != value for key, value in wanted.items()):
            await client.set_chassis(name, wanted, {})
    for name in given.urls:
        if name not in known:
            await _take_into_use(client, name, tell)


async def _take_into_use(client: Client, chassis: str, tell: Callable[[str], None]) -> None:
    found = await client.discover(chassis)
    if found.fault is not None:
        raise SwitchgearError(f"{chassis} can't be read: {found.fault}")
    answer = await client.accept(f"@chassis:{chassis}")
    view, _ = await client.follow(answer.request, timeout=300)
    tell(f"{chassis}: {found.enrolled} nodes enrolled, {view.succeeded} accepted")
