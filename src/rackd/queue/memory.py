r"""What is remembered of the last command to a slot, until a read showed its effect or its time is over.

sent --accepted--> ACCEPTED --read shows it--> forgotten
  \--unknown-----> DOUBTFUL --answer--> DOUBTFUL since then --effect limit--> may be sent again
  \--refused-----> forgotten
"""

from attrs import define

from switchgear.power import Power, Wish


@define
class Sent:
    """A command that was sent, or may have been.

    `doubtful`: nobody knows whether it arrived. `effect_from`: from when its longest effect time counts:
    its acceptance, or for a doubtful one the first answer of the chassis after it; None before that.
    """

    wish: Wish
    at: float
    doubtful: bool = True
    effect_from: float | None = None

    def accepted(self, now: float) -> None:
        """The chassis said that it took the command."""
        self.doubtful, self.effect_from = False, now

    def answered(self, now: float) -> None:
        """The chassis answers again: whatever it was doing, it did before."""
        if self.effect_from is None:
            self.effect_from = now

    def effect_ends(self, effect: float) -> float | None:
        """Return when the longest effect time is over; None if it has not begun to count."""
        return None if self.effect_from is None else self.effect_from + effect

    def may_come(self, at: float, effect: float) -> bool:
        """Tell whether, at a time, its effect may still be to come."""
        ends = self.effect_ends(effect)
        return ends is None or at < ends

    def shown_by(self, power: Power) -> bool:
        """Tell whether this power is its effect."""
        return power is self.wish.power
