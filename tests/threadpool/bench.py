"""The pure part of a pool, stepped by hand: no threads, a clock that stands."""

from threadpool import PoolSettings
from threadpool.accounts import Accounts
from threadpool.decide import Decisions
from threadpool.entry import Entry, Phase, Wait
from threadpool.orders import Grow, Order, Ring, Wake


class Bench:
    """Books and decisions with `threads` made at the start; each step returns its orders."""

    def __init__(self, **settings: object) -> None:
        self.now = 0.0
        self.settings = PoolSettings(**settings)  # type: ignore[arg-type]
        self.books = Accounts(self.settings, lambda: self.now)
        self.decisions = Decisions(self.books)
        self.books.open = True
        self._id = 0

    def orders(self) -> list[Order]:
        """What was ordered since it was last asked."""
        orders, self.books.orders = self.books.orders, []
        return orders

    def submit(self, kind: str = "io", parent: Entry | None = None, **more: object) -> Entry:
        """Queue a task."""
        self._id += 1
        presumed = more.pop("presumed", None)
        entry = Entry(self._id, kind, origin=(parent, presumed, ""), **more)  # type: ignore[arg-type]
        self.books.enqueue(entry)
        self.decisions.settle()
        return entry

    def arrive(self, worker: object = "worker") -> Entry | None:
        """A thread that was started or woken looks for work."""
        self.books.searching -= 1
        return self.take(worker)

    def take(self, worker: object = "worker") -> Entry | None:
        """A thread looks for work and parks if there is none."""
        entry = self.books.take()
        if entry is None:
            self.books.idle.append(worker)
        self.decisions.settle()
        return entry

    def run(self, kind: str = "io", parent: Entry | None = None) -> Entry:
        """Queue a task and see it start."""
        entry = self.submit(kind, parent)
        while entry.state.value == "queued":
            self.arrive()
        return entry

    def block(self, waiter: Entry, awaited: Entry | None, **more: bool) -> Wait:
        """A running task begins to wait."""
        wait = Wait(waiter, awaited, since=self.now, **more)
        self.decisions.block(wait)
        return wait

    def finish(self, entry: Entry) -> None:
        """A task ends."""
        self.books.finish(entry)
        self.decisions.settle()


def shapes(orders: list[Order]) -> list[str]:
    """The kinds of orders, in short."""
    names = {Wake: "wake", Grow: "grow", Ring: "ring"}
    return [names.get(type(order), "warn") for order in orders]


def phase(wait: Wait) -> Phase:
    """Where it is now (a call, because a type checker believes that an attribute stays)."""
    return wait.phase
