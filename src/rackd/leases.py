"""Which chassis this rack may speak to, and until when. Pure: every time is an argument.

A lease is taken to start when the rack *asked* for it, so it ends here before it ends in the record.
"""

from attrs import Factory, define, frozen

#: A rack looks for free chassis at least so often, in seconds: a chassis just added waits for no more.
LOOK_EVERY = 2.0


@frozen
class Lease:
    """One chassis' lease: it holds at times before `until`, in seconds of the rack's clock."""

    epoch: int
    until: float


@define
class Leases:
    """The leases of one rack. Epochs count within a `generation` of the installation."""

    generation: int = 0
    _held: dict[str, Lease] = Factory(dict)
    _shortest: float = LOOK_EVERY * 3

    def enter(self, generation: int) -> bool:
        """Note the generation that a region speaks for; False if that region is behind.

        A new one forgets every lease: the record was restored, and its epochs start anew.
        """
        if generation > self.generation:
            self.generation = generation
            self._held.clear()
        return generation == self.generation

    def granted(self, *, asked_at: float, chassis: str, epoch: int, seconds: float) -> Lease | None:
        """Note a grant; return the lease as it is now, or None if a newer one is known already."""
        held = self._held.get(chassis)
        until = asked_at + seconds
        if held is not None and held.epoch > epoch:
            return None
        if held is not None and held.epoch == epoch:
            until = max(until, held.until)
        self._held[chassis] = lease = Lease(epoch, until)
        self._shortest = min(self._shortest, seconds)
        return lease

    def holds(self, now: float, chassis: str, epoch: int) -> bool:
        """Tell whether this rack holds exactly this epoch of the chassis now."""
        held = self._held.get(chassis)
        return held is not None and held.epoch == epoch and now < held.until

    def lapsed(self, now: float) -> list[str]:
        """Forget the leases that ran out, and return their chassis. Newer epochs stay possible."""
        over = sorted(name for name, lease in self._held.items() if lease.until <= now)
        for name in over:
            del self._held[name]
        return over

    def renew_in(self) -> float:
        """Return the seconds until leases should be asked for again."""
        return min(self._shortest / 3, LOOK_EVERY)
