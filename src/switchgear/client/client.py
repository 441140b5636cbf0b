"""The calls of a client. See the package's docstring for an example."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.defer import TimeoutError as DeferredTimeout
from twisted.logger import Logger

from switchgear.client.link import Links, NotReachable
from switchgear.errors import SwitchgearError
from switchgear.life import Verb
from switchgear.secret import Secret
from switchgear.wire import client as wire
from switchgear.wire.client import (
    Ask,
    AskAnswer,
    ChassisView,
    DiscoveryView,
    DriverView,
    EventView,
    ItemView,
    NodeView,
    OperationView,
    RequestView,
)

#: Seconds between two looks while following something; events make a look come sooner.
LOOK_EVERY = 1.0
#: Shortest time between two looks.
LOOK_AT_LEAST = 0.1
#: Seconds that a call is tried for while the region has no link to us.
PATIENCE = 30.0


class StillRunning(SwitchgearError):
    """The wait is over, but the request goes on. Follow it again by its id."""

    code = "STILL_RUNNING"


class Client:
    """A connected client. Make one with `connect`; `close` it in the end."""

    _log = Logger()

    def __init__(self, reactor: Any, address: str, name: str, patience: float) -> None:
        self._reactor = reactor
        self._links = Links(reactor, address, name, patience, self._on_events)
        self._links.on_lost = self._on_lost
        self._callbacks: dict[int, Callable[[EventView], None]] = {}
        self._numbers = 0
        self._cursor: str | None = None
        self._woken: list[Deferred[None]] = []
        self._resuming = False
        self._closed = False

    @classmethod
    async def connect(
        cls, reactor: Any, address: str, *, name: str, patience: float = PATIENCE
    ) -> "Client":
        """Connect to a region, ``host:port``. `name` is who we are: the owner of what we allocate.

        Raises NotReachable if there is no region at once, VersionMismatch, BadRequest (name).
        """
        client = cls(reactor, address, name, 0.0)
        await client._links.call(wire.ListDrivers)
        client._links._patience = patience
        return client

    @property
    def region(self) -> str:
        """Return the name of the region that answered."""
        return self._links.region

    async def close(self) -> None:
        """End the link."""
        self._closed = True
        await self._links.close()
        self._wake()

    # ------------------------------------------------------------------ the record

    async def nodes(self, nodes: str = "") -> list[NodeView]:
        """List the nodes of a set; all for an empty one. BadRequest, NoSuchThing."""
        found: list[NodeView] = []
        more = True
        while more:
            after = found[-1].name if found else ""
            answer = await self._links.call(wire.ListNodes, nodes=nodes, after=after)
            found += answer["nodes"]
            more = answer["more"] and bool(answer["nodes"])
        return found

    async def chassis(self, name: str = "") -> list[ChassisView]:
        """List all chassis, or the one named. NoSuchThing."""
        found: list[ChassisView] = []
        more = True
        while more:
            after = found[-1].name if found else ""
            answer = await self._links.call(wire.ListChassis, name=name, after=after)
            found += answer["chassis"]
            more = answer["more"] and bool(answer["chassis"]) and not name
        return found

    async def drivers(self) -> list[DriverView]:
        """List the drivers and their settings."""
        drivers: list[DriverView] = (await self._links.call(wire.ListDrivers))["drivers"]
        return drivers

    async def add_chassis(
        self, name: str, driver: str, settings: Mapping[str, str], secrets: Mapping[str, Secret]
    ) -> None:
        """Enrol a chassis. BadRequest names every wrong setting; Conflict."""
        await self._links.call(
            wire.AddChassis,
            name=name,
            driver=driver,
            settings=dict(settings),
            secrets=dict(secrets),
        )

    async def set_chassis(
        self, name: str, settings: Mapping[str, str], secrets: Mapping[str, Secret]
    ) -> None:
        """Change some settings or secrets. NoSuchThing, BadRequest."""
        await self._links.call(
            wire.SetChassis, name=name, settings=dict(settings), secrets=dict(secrets)
        )

    async def add_node(
        self, name: str, chassis: str, slot: str, addresses: list[str] | None = None
    ) -> None:
        """Enrol one node by hand. Conflict, NoSuchThing, BadRequest."""
        await self._links.call(
            wire.AddNode, name=name, chassis=chassis, slot=slot, addresses=addresses or []
        )

    async def discover(self, chassis: str) -> DiscoveryView:
        """Read a chassis and enrol its nodes; returns when that ended, well or not (`fault`)."""
        ticket = (await self._links.call(wire.StartDiscovery, chassis=chassis))["ticket"]
        while True:
            view: DiscoveryView = (await self._links.call(wire.ShowDiscovery, ticket=ticket))[
                "discovery"
            ]
            if view.ended:
                return view
            await self._pause(LOOK_EVERY / 2)

    async def operation(self, operation: str) -> OperationView:
        """Return one operation. NoSuchThing, BadRequest."""
        view: OperationView = (await self._links.call(wire.ShowOperation, operation=operation))[
            "view"
        ]
        return view

    # ------------------------------------------------------------------ asking

    async def ask(self, ask: Ask) -> AskAnswer:
        """Ask for something. An ask without a key gets one, so that a lost link can't double it."""
        keyed = ask if ask.key or ask.dry_run else evolve(ask, key=uuid4().hex)
        answer: AskAnswer = (await self._links.call(wire.AskFor, ask=keyed))["answer"]
        return answer

    async def power_on(self, nodes: str) -> AskAnswer:
        """Switch nodes on."""
        return await self.ask(Ask(verb=Verb.ON, nodes=nodes))

    async def power_off(self, nodes: str) -> AskAnswer:
        """Switch nodes off (hard)."""
        return await self.ask(Ask(verb=Verb.OFF, nodes=nodes))

    async def query(self, nodes: str) -> AskAnswer:
        """Read the power of nodes afresh."""
        return await self.ask(Ask(verb=Verb.QUERY, nodes=nodes))

    async def accept(self, nodes: str) -> AskAnswer:
        """Take new nodes into use, after one good check that shows them off."""
        return await self.ask(Ask(verb=Verb.ACCEPT, nodes=nodes))

    async def allocate(self, nodes: str, owner: str | None = None) -> AskAnswer:
        """Take ready nodes for an owner (us, if None)."""
        return await self.ask(Ask(verb=Verb.ALLOCATE, nodes=nodes, owner=owner))

    async def deploy(self, nodes: str) -> AskAnswer:
        """Switch allocated nodes on; deployed when they are seen on."""
        return await self.ask(Ask(verb=Verb.DEPLOY, nodes=nodes))

    async def release(self, nodes: str) -> AskAnswer:
        """Give nodes back: off, seen off, addresses freed, ready."""
        return await self.ask(Ask(verb=Verb.RELEASE, nodes=nodes))

    async def mark_broken(self, nodes: str, reason: str, power_off: bool = True) -> AskAnswer:
        """Take nodes out of use, with a reason."""
        return await self.ask(
            Ask(verb=Verb.MARK_BROKEN, nodes=nodes, reason=reason, power_off=power_off)
        )

    async def mark_fixed(self, nodes: str) -> AskAnswer:
        """Put broken nodes back to what they were."""
        return await self.ask(Ask(verb=Verb.MARK_FIXED, nodes=nodes))

    async def request(self, request: str) -> RequestView:
        """Return how far a request is. NoSuchThing, BadRequest."""
        view: RequestView = (await self._links.call(wire.ShowRequest, request=request))["view"]
        return view

    async def items(self, request: str) -> list[ItemView]:
        """List what became of each node of a request."""
        found: list[ItemView] = []
        more = True
        while more:
            after = found[-1].node if found else ""
            answer = await self._links.call(wire.ListItems, request=request, after=after)
            found += answer["items"]
            more = answer["more"] and bool(answer["items"])
        return found

    async def follow(
        self,
        request: str,
        on_progress: Callable[[RequestView], None] = lambda _: None,
        timeout: float | None = None,
    ) -> tuple[RequestView, list[ItemView]]:
        """Wait until every node of a request has its outcome. Raises StillRunning after `timeout` s.

        Goes on over a restart of the region, for as long as `patience` allows each call.
        """
        give_up_at = None if timeout is None else self._reactor.seconds() + timeout
        unsubscribe = await self.subscribe(lambda _: None)
        try:
            while True:
                view = await self.request(request)
                on_progress(view)
                if view.ended:
                    return view, await self.items(request)
                left = LOOK_EVERY
                if give_up_at is not None:
                    left = min(left, give_up_at - self._reactor.seconds())
                if left <= 0:
                    raise StillRunning(
                        f"request {request}: {view.running} of {view.nodes} still run"
                    )
                await self._pause(left)
        finally:
            unsubscribe()

    # ------------------------------------------------------------------ events

    async def subscribe(
        self, callback: Callable[[EventView], None], cursor: str = ""
    ) -> Callable[[], None]:
        """Call `callback` for every event from now on, or after `cursor`; returns what ends it.

        None is lost over a lost link; after one, an event may come twice. One stream serves all
        subscriptions: a cursor moves it for all.
        """
        self._numbers += 1
        number = self._numbers
        self._callbacks[number] = callback
        if self._cursor is None or cursor:
            self._cursor = (await self._links.call(wire.Subscribe, cursor=cursor))["cursor"]

        def unsubscribe() -> None:
            self._callbacks.pop(number, None)

        return unsubscribe

    def _on_events(self, events: list[EventView]) -> None:
        for event in events:
            self._cursor = event.cursor
            for callback in list(self._callbacks.values()):
                try:
                    callback(event)
                except Exception:  # noqa: BLE001 # a caller's defect must not end the stream
                    self._log.failure("a callback of events failed")
        self._wake()

    def _on_lost(self) -> None:
        """Go on with the stream of events on a new link."""
        if self._cursor is not None and not self._resuming:
            self._resuming = True
            Deferred.fromCoroutine(self._resume()).addErrback(
                lambda failure: self._log.failure("resuming events failed", failure=failure)
            )

    async def _resume(self) -> None:
        try:
            while not self._closed:
                with suppress(NotReachable):
                    await self._links.call(wire.Subscribe, cursor=self._cursor or "")
                    return
        finally:
            self._resuming = False

    async def _pause(self, seconds: float) -> None:
        """Wait, or until an event comes; at least a little, so that many events make one look."""
        await self._sleep(min(LOOK_AT_LEAST, seconds))
        if seconds > LOOK_AT_LEAST:
            woken: Deferred[None] = Deferred()
            self._woken.append(woken)
            with suppress(DeferredTimeout):
                await woken.addTimeout(seconds - LOOK_AT_LEAST, self._reactor)
            if woken in self._woken:
                self._woken.remove(woken)

    async def _sleep(self, seconds: float) -> None:
        waiting: Deferred[None] = Deferred()
        self._reactor.callLater(max(0.0, seconds), waiting.callback, None)
        await waiting

    def _wake(self) -> None:
        woken, self._woken = self._woken, []
        for waiting in woken:
            waiting.callback(None)
