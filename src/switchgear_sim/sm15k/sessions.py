"""Who is connected: logins and sessions as the chassis counts them."""

from attrs import define, field


@define
class Sessions:
    """A session is a connection on which a request with the right credentials came, until it closed."""

    live: set[int] = field(factory=set)
    logins: int = 0
    most: int = 0
    in_execution_most: int = 0

    def logged_in(self, connection: int) -> None:
        """Count a request with the right credentials."""
        if connection not in self.live:
            self.live.add(connection)
            self.logins += 1
            self.most = max(self.most, len(self.live))

    def closed(self, connection: int) -> None:
        """Forget a connection that closed."""
        self.live.discard(connection)

    def begin(self) -> None:
        """Start the figures of an act; what is open counts as open."""
        self.logins = 0
        self.most = len(self.live)
        self.in_execution_most = 0
