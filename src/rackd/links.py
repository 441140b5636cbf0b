"""The regions that this rack is linked to now. They share one record: whatever one is told, all know."""

from collections.abc import Callable
from typing import Any, Protocol


class Link(Protocol):
    """A region that said hello."""

    def callRemote(self, commandType: Any, *a: Any, **kw: Any) -> Any:
        """Call a command of the region; see `twisted.protocols.amp.AMP`."""
        ...


class Links:
    """Linked regions, the one to talk to first. `on_linked` is called with every new one."""

    def __init__(self, on_linked: Callable[[], None] = lambda: None) -> None:
        self._links: list[Link] = []
        self.on_linked = on_linked

    def __len__(self) -> int:
        return len(self._links)

    def add(self, link: Link) -> None:
        """A region said hello."""
        self._links.append(link)
        self.on_linked()

    def remove(self, link: Link) -> None:
        """A link ended."""
        self._links = [known for known in self._links if known is not link]

    def first(self) -> Link | None:
        """Return the link to talk to; None if every region is away."""
        return self._links[0] if self._links else None

    def prefer_others(self, link: Link) -> None:
        """Talk to the others first: this one did not do what was asked."""
        if link in self._links:
            self.remove(link)
            self._links.append(link)
