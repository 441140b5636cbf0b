"""The physical truth of the servers: which are on, and which are on their way. Time is an argument."""

from attrs import define, field


@define
class Server:
    """One server. `target` will be its state at `due`, if a command is taking effect.

    `clean`: the command that takes effect was answered properly, so that nobody needs to repeat it.
    """

    active: bool
    target: bool | None = None
    due: float = 0.0
    clean: bool = True


@define(frozen=True)
class Transition:
    """A server's power really changed."""

    slot: str
    active: bool
    at: float


@define
class Model:
    """All servers of a chassis. Call `advance` before looking."""

    servers: dict[str, Server]
    transitions: list[Transition] = field(factory=list)

    @classmethod
    def of(cls, count: int, active: bool) -> "Model":
        """Build a chassis of `count` servers named ``0/0`` and up, all on or all off."""
        return cls({f"{number}/0": Server(active) for number in range(count)})

    def advance(self, now: float) -> None:
        """Let every command take effect that is due."""
        for slot, server in self.servers.items():
            if server.target is not None and server.due <= now:
                self._become(slot, server, server.target, server.due)

    def command(
        self, slot: str, active: bool, now: float, effect: float | None, clean: bool
    ) -> None:
        """Take a command whose effect needs `effect` seconds (None: it never comes)."""
        self.advance(now)
        server = self.servers[slot]
        if server.target == active:
            server.clean = server.clean or clean
        elif server.active == active:
            server.target = None
        elif effect is not None:
            server.target, server.due, server.clean = active, now + effect, clean

    def force(self, slot: str, active: bool, now: float) -> None:
        """Change a server behind everybody's back, as a hand on its button does."""
        self.advance(now)
        server = self.servers[slot]
        if server.active != active:
            self._become(slot, server, active, now)

    def _become(self, slot: str, server: Server, active: bool, at: float) -> None:
        server.active, server.target = active, None
        self.transitions.append(Transition(slot, active, at))
