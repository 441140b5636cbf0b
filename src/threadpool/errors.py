"""What can go wrong in the pool itself; each error says who can act on it."""


class StarvationError(Exception):
    """This wait could never have ended: every thread or lease it needs is held by who waits for it.

    The text names who waits for whom. Who submitted the task can act: submit less at a time, wait
    outside of the transaction, or raise the ceiling.
    """


class PoolStopped(Exception):
    """The pool has been stopped, or is stopping: the task was not run, or not waited for."""


class BlockedInTransaction(Exception):
    """A task tried to wait while it holds an open transaction: a defect of that task.

    A waiting transaction keeps its connection and its row locks; commit before waiting.
    """
