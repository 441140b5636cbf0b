"""A thread pool for Twisted daemons whose tasks may wait for each other without starving.

Threads are cheap and grow to a ceiling; database connections are counted as leases. The public
names are all here; the rest of the package is its inside.
"""

from .errors import BlockedInTransaction, PoolStopped, StarvationError
from .pool import AdaptivePool
from .settings import PoolSettings
from .tally import PoolGauges
from .task import Task

__all__ = [
    "AdaptivePool",
    "BlockedInTransaction",
    "PoolGauges",
    "PoolSettings",
    "PoolStopped",
    "StarvationError",
    "Task",
]
