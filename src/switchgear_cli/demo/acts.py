"""The four acts. Each starts from `deployed` and truly on, and ends when every node has its outcome."""

from typing import Any

from attrs import define, field
from rich.console import Console
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall, deferLater

from switchgear.client import Client, StillRunning
from switchgear.life import Status
from switchgear.wire.client import AskAnswer, RequestView
from switchgear_cli.demo.chassis import Truth
from switchgear_cli.demo.gauging import EVERY, Gauges
from switchgear_cli.demo.judge import KILL_FROM, Observed, Verdict, judge
from switchgear_cli.output import Output
from switchgear_cli.up.stack import Stack

#: Seconds after which a node counts as stuck, and between a kill and the new start.
ACT_LIMIT = 180.0
DEAD_FOR = 1.0
#: Seconds between two comparisons of what the region says with the truth.
COMPARE_EVERY = 0.3
#: What the kill aims at, so that it falls between 25 and 75 %.
KILL_AT = KILL_FROM + 0.1


class NotDeployed(Exception):
    """The stage could not be set: the nodes did not become deployed and on."""


@define
class Acts:
    """Plays acts on a stack. `budget`: database connections a region may have; `limit`: seconds of an act."""

    reactor: Any
    client: Client
    stack: Stack
    truth: Truth
    gauges: Gauges
    budget: int
    limit: float
    out: Output
    console: Console
    _early: set[str] = field(factory=set)
    _killed_at: float | None = None

    async def play(self, act: int) -> Verdict:
        """Set the stage, play an act, and judge it."""
        await self._set_stage()
        self.truth.begin_act(f"act {act}")
        self.gauges.begin()
        self._early.clear()
        self._killed_at = None
        gauging = LoopingCall(self.gauges.look)
        gauging.start(EVERY)
        comparing = LoopingCall(self._compare)
        comparing.start(COMPARE_EVERY)
        try:
            reached = await {1: self._one, 2: self._two, 3: self._three, 4: self._four}[act]()
            await self._compare_once()
        finally:
            gauging.stop()
            comparing.stop()
        return judge(await self._observed(act, reached), self.truth.figures())

    async def _one(self) -> int:
        return await self._release("act 1: release")

    async def _two(self) -> int:
        return await self._release("act 2: release, kill -9 regiond", "regiond")

    async def _three(self) -> int:
        return await self._release("act 3: release, kill -9 rackd", "rackd")

    async def _four(self) -> int:
        """Mark all broken, see all off, mark all fixed; return how many are what they were."""
        before = {node.name: (node.status, node.owner) for node in await self.client.nodes()}
        answer = await self.client.mark_broken("@all", "act 4 of the demo")
        await self._follow("act 4: mark broken", answer)
        seen_off = {n.name for n in await self.client.nodes("@status:broken") if n.power == "off"}
        await self._follow("act 4: mark fixed", await self.client.mark_fixed("@all"))
        after = await self.client.nodes()
        return sum(before[n.name] == (n.status, n.owner) and n.name in seen_off for n in after)

    async def _release(self, title: str, victim: str | None = None) -> int:
        answer = await self.client.release("@all")
        killing: Deferred[None] | None = None
        if victim is not None:
            killing = Deferred.fromCoroutine(self._kill(victim))
        await self._follow(title, answer)
        if killing is not None:
            await killing
        return len(await self.client.nodes("@status:ready")) if await self._any("ready") else 0

    async def _any(self, status: str) -> bool:
        return any(node.status == status for node in await self.client.nodes())

    async def _kill(self, victim: str) -> None:
        """kill -9 a daemon in the middle, and start it again a little later."""
        while self.truth.share_off() < KILL_AT:
            await deferLater(self.reactor, 0.05)
        self.stack.services[victim].kill()
        self._killed_at = self.truth.share_off()
        self.console.print(
            f"   kill -9 {victim}: {100 * self._killed_at:.0f} % of the nodes are off"
        )
        await deferLater(self.reactor, DEAD_FOR)
        self.stack.restart(victim)

    async def _follow(self, title: str, answer: AskAnswer) -> None:
        with self.out.progress(title, answer.nodes) as show:
            try:
                await self.client.follow(answer.request, show, self.limit)
            except StillRunning as error:
                self.console.print(f"   {error}")

    async def _set_stage(self) -> None:
        """Bring every node to `deployed`, on and with an address, through the product itself."""
        if await self._any("ready"):
            await self._must("allocate", self.client.allocate("@status:ready"))
        if await self._any("allocated"):
            await self._must("deploy", self.client.deploy("@status:allocated"))
        nodes = await self.client.nodes()
        on = self.truth.active()
        if any(n.status is not Status.DEPLOYED for n in nodes) or not all(on.values()):
            raise NotDeployed(f"{sum(on.values())} of {len(nodes)} nodes are on and deployed")

    async def _must(self, what: str, asking: Any) -> RequestView:
        answer = await asking
        with self.out.progress(f"   setting the stage: {what}", answer.nodes) as show:
            view, _ = await self.client.follow(answer.request, show, ACT_LIMIT)
        if view.succeeded != view.nodes:
            raise NotDeployed(f"{what}: {view.succeeded} of {view.nodes} nodes reached")
        return view

    def _compare(self) -> "Deferred[None]":
        """Ask the region first and the chassis after it: a node called ready must be off in truth."""
        return Deferred.fromCoroutine(self._compare_once()).addErrback(lambda _: None)

    async def _compare_once(self) -> None:
        ready = [n for n in await self.client.nodes() if n.status is Status.READY]
        on = self.truth.active()
        self._early |= {node.name for node in ready if on[node.chassis, node.slot]}

    async def _observed(self, act: int, reached: int) -> Observed:
        nodes = await self.client.nodes()
        ready = [node for node in nodes if node.status is Status.READY]
        return Observed(
            act=act,
            nodes=len(nodes),
            reached=reached,
            peak_threads=self.gauges.peak_threads,
            peak_db_connections=self.gauges.peak_connections,
            db_budget=self.budget,
            early=sorted(self._early),
            not_off=sum(self.truth.active().values()),
            holding=sum(node.owner is not None or bool(node.addresses) for node in ready),
            killed_at=self._killed_at,
            timed=act == 1,
        )
