"""The seam between what is decided under the lock and what is carried out after it."""

from twisted.internet.task import Clock
from twisted.logger import Logger

from threadpool.crew import Crew
from threadpool.delivery import Delivery
from threadpool.orders import Grow
from threadpool.settings import PoolSettings


def test_orders_are_handed_out_once() -> None:
    """Who was handed no orders does not get to see those that somebody else's turn gives.

    It once did, and a worker was woken twice for one wake: the pool then waited for ever for a
    search that nobody was on.
    """
    crew = Crew(PoolSettings(), Delivery(Clock()), Logger())  # type: ignore[arg-type] - never used
    with crew.lock:
        none = crew.orders()
    with crew.lock:
        crew.books.grow("base")
        some = crew.orders()
    assert list(some) == [Grow(newest=False)]
    assert not none
