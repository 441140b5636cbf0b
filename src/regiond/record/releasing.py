"""The end of a release: addresses freed, owner cleared, status ready, in one transaction."""

from collections.abc import Iterable, Sequence

from regiond.lifecycle.values import Life
from regiond.record import lives
from regiond.record.feed import Event, write
from regiond.record.lives import Moved
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.life import Status


def finish(cur: Cursor, nodes: Iterable[str]) -> int:
    """End the release of those of `nodes` that are `releasing` and were seen off; return how many."""
    asked = sorted(set(nodes))
    lives.lock(cur, asked)
    done = ripe(cur, asked)
    if not done:
        return 0
    freed = rows(cur, "releasing.free", names=done)
    write(cur, [Event(kind="address", text=f"{row.ip} freed", node=row.node) for row in freed])
    ready = Life(status=Status.READY)
    lives.move(cur, [Moved(node=node, was=Status.RELEASING, life=ready) for node in done])
    run(cur, "releasing.items", names=done)
    return len(done)


def ripe(cur: Cursor, nodes: Sequence[str] | None) -> list[str]:
    """Return those of `nodes` (None: of all) whose release only waits to be finished."""
    names = None if nodes is None else list(nodes)
    return [row.node for row in rows(cur, "releasing.ripe", names=names)]


def unfinished(cur: Cursor) -> list[str]:
    """Return the nodes whose release could be finished but was not (a region died in between)."""
    return ripe(cur, None)
