"""A pool whose tasks run when the test says so, in the test's thread."""

from attrs import define, field
from twisted.internet.defer import Deferred, maybeDeferred


@define(eq=False)
class HandTask:
    """A queued call. `deferred` fires when it was run."""

    call: object
    key: str
    deferred: Deferred = field(factory=Deferred)

    def run(self):
        """Run the call and tell."""
        maybeDeferred(self.call).chainDeferred(self.deferred)


class HandPool:
    """Takes calls; `run_all` runs them, those that they lead to as well."""

    def __init__(self):
        self.queued = []

    def submit(self, kind, f, *args, key="", height=0, **kwargs):
        """Queue a call."""
        task = HandTask(lambda: f(*args, **kwargs), key)
        self.queued.append(task)
        return task

    def run_next(self):
        """Run the oldest call."""
        self.queued.pop(0).run()

    def run_all(self):
        """Run until nothing is queued."""
        while self.queued:
            self.run_next()
