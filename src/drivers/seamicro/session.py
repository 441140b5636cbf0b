"""One conversation with an SM15K over REST v2.0: the library's managers on our transport."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from attrs import frozen
from seamicroclient.v2.client import Client
from seamicroclient.v2.servers import ServerManager
from zope.interface import implementer

from drivers.interfaces import Fate, ISession
from drivers.seamicro.failing import failed
from drivers.seamicro.transport import Transport
from switchgear.power import ErrorClass, Power, Wish, cut
from switchgear.secret import Secret


class _Servers(ServerManager):  # type: ignore[misc] # the library is untyped
    """The library's server manager with a `list` that works on Python 3."""

    def _list(self, url: str, body: object = None, filters: object = None) -> list[Any]:
        """Return a resource for each server. Every SM15K answers an object keyed ``0/0``..``63/0``."""
        _, answer = self.api.client.get(url)
        if not isinstance(answer, dict):
            shown = cut(str(answer), 60)
            raise failed(
                ErrorClass.CONNECTION, f"the answer is no list of servers: {shown}", Fate.UNKNOWN
            )
        # Only what is read is taken: other keys of the device would become attributes of the resource.
        return [
            self.resource_class(self, {"id": key, "active": _active(details)}, loaded=True)
            for key, details in answer.items()
        ]


def _active(details: object) -> object:
    return details.get("active") if isinstance(details, dict) else None


def power_of(active: object) -> Power:
    """Read the power bit. Only JSON's true and false are states; anything else is no knowledge."""
    return {True: Power.ON, False: Power.OFF}[active] if isinstance(active, bool) else Power.UNKNOWN


@implementer(ISession)
@frozen
class SeaMicroSession:
    """See `ISession`. The login is part of each request; the session is the kept connection."""

    _client: Client
    _transport: Transport

    @classmethod
    def build(
        cls, *, url: str, user: str, password: Secret, verify: str, limit: float
    ) -> "SeaMicroSession":
        """Put the library's managers on a transport of ours."""
        transport = Transport(url, user, password, verify, limit)
        client = Client(user, "", auth_url=url)
        client.client = transport
        client.servers = _Servers(client)
        return cls(client, transport)

    def read(self) -> Mapping[str, Power]:
        """Read every server with one ``GET /servers``."""
        return {server.id: power_of(server.active) for server in self._client.servers.list()}

    def command(self, slot: str, wish: Wish) -> None:
        """Send ``power-on`` (boot as configured) or ``power-off`` with force (no ACPI)."""
        server = quote(slot, safe="/")
        match wish:
            case Wish.ON:
                self._client.servers.power_on(server)
            case Wish.OFF:
                self._client.servers.power_off(server, force=True)
            case Wish.QUERY:
                raise failed(
                    ErrorClass.INTERNAL, "a query is a read, not a command", Fate.NOT_ACCEPTED
                )

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def abort(self) -> None:
        """Cut the connection under a call in progress."""
        self._transport.abort()
