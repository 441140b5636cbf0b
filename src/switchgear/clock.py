"""The daemons' one clock: seconds that only grow, and that go on while the host sleeps.

A lease runs out while a virtual machine is paused, so `CLOCK_MONOTONIC`, which stands still meanwhile,
would let its rack speak to a chassis that another one holds by then. Twisted's reactor keeps its timers
by the time of day, which may jump; `main` gives it this clock instead.
"""

import time
from pathlib import Path

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def seconds() -> float:
    """Return the seconds since the host started, its sleep included."""
    return time.clock_gettime(_CLOCK)


def boot_id() -> str:
    """Return what tells this start of the host from any other; empty where the host does not say."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""
