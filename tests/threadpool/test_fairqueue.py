"""The pool's order."""

from threadpool.entry import Entry, State
from threadpool.fairqueue import FairQueue


def queue_of(*entries: Entry) -> FairQueue:
    """A queue with these in it."""
    queue = FairQueue()
    for entry in entries:
        queue.push(entry)
    return queue


def drained(queue: FairQueue) -> list[int]:
    """The ids in the order they leave."""
    return [queue.pop().id for _ in range(queue.count)]


def child_of(parent: Entry, id_: int) -> Entry:
    """A child with this id."""
    return Entry(id_, "io", origin=(parent, None, ""))


def test_one_key_is_first_come_first_served() -> None:
    """Tasks of one key start in the order they were handed in."""
    assert drained(queue_of(*[Entry(n, "io") for n in range(4)])) == [0, 1, 2, 3]


def test_keys_take_turns() -> None:
    """A chassis with many tasks does not delay another with one."""
    noisy = [Entry(n, "io", key="noisy") for n in range(3)]
    assert drained(queue_of(*noisy, Entry(9, "io", key="quiet"))) == [0, 9, 1, 2]


def test_the_deepest_goes_first() -> None:
    """A descendant of a running task goes before every root, a grandchild before a child."""
    root = Entry(1, "io")
    child = child_of(root, 3)
    assert drained(queue_of(Entry(2, "io"), child, child_of(child, 4))) == [4, 3, 2]


def test_a_child_of_an_ended_task_is_a_root() -> None:
    """Only living ancestors count, and the chain of ended ones is not kept."""
    root = Entry(1, "io")
    middle = child_of(root, 2)
    middle.state = State.DONE
    assert (child_of(middle, 3).depth, child_of(middle, 3).parent) == (1, root)
    root.state = State.DONE
    assert child_of(middle, 4).depth == 0


def test_a_child_inherits_its_parents_key() -> None:
    """Unless it names its own."""
    root = Entry(1, "io", key="sm-1")
    assert child_of(root, 2).key == "sm-1"
    assert Entry(3, "io", key="sm-2", origin=(root, None, "")).key == "sm-2"


def test_discarded_entries_are_passed_over() -> None:
    """A task that was cancelled or helped costs its key no turn."""
    entries = [Entry(n, "io", key="a") for n in range(3)]
    queue = queue_of(*entries, Entry(8, "io", key="b"))
    entries[0].state = State.DONE
    queue.discard(entries[0])
    assert queue.count == 3
    assert drained(queue) == [1, 8, 2]


def test_the_newest_of_the_deepest_can_be_asked_for() -> None:
    """It is what an opaque starvation's new thread begins with."""
    root = Entry(1, "io")
    queue = queue_of(child_of(root, 2), child_of(root, 3), Entry(4, "io"))
    assert queue.newest().id == 3
