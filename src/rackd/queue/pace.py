"""What a chassis teaches about its own speed: service times, effect times, and how long to leave it alone."""

from collections import deque
from collections.abc import Callable
from statistics import median

from attrs import define, field

from drivers.interfaces import Limits

#: Calls whose median counts (one slow answer in a while is no change), and a guess before the first.
CALLS = 5
FIRST_GUESS = 1.0
#: Reads between commands may take this share of the time.
READ_SHARE = 0.1
#: Seconds between two looks at most, and at least.
LONGEST_GAP = 10.0
SHORTEST_GAP = 0.1
#: First and longest pause after a failure, in seconds.
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 30.0
#: Effect times that are remembered, and how many are needed to believe them.
EFFECTS = 64
EFFECTS_NEEDED = 8


@define
class Pace:
    """Learned for one chassis; all times in seconds."""

    limits: Limits
    chance: Callable[[], float]
    _reads: deque[float] = field(factory=lambda: deque(maxlen=CALLS))
    _commands: deque[float] = field(factory=lambda: deque(maxlen=CALLS))
    _effects: deque[float] = field(factory=lambda: deque(maxlen=EFFECTS))

    def read_took(self, seconds: float) -> None:
        """Learn from a read that ended well."""
        self._reads.append(seconds)

    def command_took(self, seconds: float) -> None:
        """Learn from a command that ended well."""
        self._commands.append(seconds)

    @property
    def read(self) -> float:
        """Seconds that a read takes."""
        return median(self._reads) if self._reads else FIRST_GUESS

    @property
    def read_now(self) -> float:
        """Seconds that a read may take at the moment: a chassis that was slow the last time may be again."""
        return max(self.read, self._reads[-1]) if self._reads else FIRST_GUESS

    @property
    def command(self) -> float:
        """Seconds that a command takes."""
        return median(self._commands) if self._commands else FIRST_GUESS

    def effect_was(self, least: float, most: float) -> None:
        """Learn from an effect seen between two reads; a wide bracket teaches nothing."""
        if most - least <= max(1.0, 0.5 * self.usual_effect):
            self._effects.append(most)

    @property
    def usual_effect(self) -> float:
        """Seconds within which nine of ten commands show, by what was learned or the driver's guess."""
        if len(self._effects) < EFFECTS_NEEDED:
            return self.limits.usual_effect
        learned = sorted(self._effects)[int(0.9 * (len(self._effects) - 1))]
        return min(learned, self.limits.effect)

    @property
    def gap(self) -> float:
        """Seconds between two confirming reads while nothing else is to do."""
        return min(LONGEST_GAP, max(SHORTEST_GAP, 2 * self.read, self.usual_effect / 6))

    def gap_after(self, misses: int) -> float:
        """Seconds until a node is worth another look that was not yet as asked `misses` times."""
        return min(LONGEST_GAP, self.gap * 1.3 ** max(0, misses - 1))

    def is_cheap(self, since_last_read: float) -> bool:
        """Tell whether a read between commands stays within its share of the time."""
        return since_last_read * READ_SHARE >= self.read_now

    def pause(self, failures: int) -> float:
        """Seconds to leave the chassis alone after so many failures in a row."""
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, 16))
        return longest * (0.5 + self.chance() / 2)
