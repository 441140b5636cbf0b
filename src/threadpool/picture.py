"""Who waits for what, and for how long: as text for a log or an error, and as a drawing."""

from collections.abc import Callable, Iterator

from .accounts import Accounts
from .entry import Entry, Phase, Wait

StackOf = Callable[[Entry], str]
"""Where the thread of a running task is now, as text; empty when that is not known."""

_MOST = 8
"""Waits that a log line or an error names."""


def picture(books: Accounts, waits: list[Wait], stack_of: StackOf, most: int = _MOST) -> str:
    """Who waits for what, for how long, and where: a bounded text for a log line or an error."""
    now = books.clock()
    lines = [_line(wait, now, stack_of) for wait in waits[:most]]
    if len(waits) > most:
        lines.append(f"and {len(waits) - most} more waits")
    return "; ".join(lines) or "nobody waits inside of a task"


def _line(wait: Wait, now: float, stack_of: StackOf) -> str:
    stack = stack_of(wait.waiter)
    inside = " inside of a transaction" if wait.keeps else ""
    at = f" at {stack}" if stack else ""
    return f"{wait.waiter.name} waits{inside} for {_what(wait)} since {now - wait.since:.1f} s{at}"


def _what(wait: Wait) -> str:
    if wait.phase is Phase.REGAINING:
        return f"a place of kind {wait.waiter.kind}"
    if wait.awaited is not None:
        return f"{wait.awaited.name} ({wait.awaited.state.value})"
    pending = wait.pending()
    return "the reactor" + (f" (and so probably for {pending[0].name})" if pending else "")


def dump(books: Accounts, stack_of: StackOf, most: int = 1000) -> str:
    """Everything that runs, waits or is queued, a line each, at most `most` lines of each."""
    now = books.clock()
    lines = [
        (
            f"{books.threads} threads of at most {books.ceiling} (base {books.settings.base}): "
            f"{books.busy()} busy, {books.blocked} waiting; {books.leases_out()} leases out"
        )
    ]
    for entry in list(books.running.values())[:most]:
        if entry.wait is not None:
            lines.append(_line(entry.wait, now, stack_of))
        else:
            stack = stack_of(entry)
            lines.append(f"{entry.name} runs{f' at {stack}' if stack else ''}")
    for kind, queue in books.queues.items():
        queued = queue.entries()
        lines.extend(
            f"{entry.name} is queued since {now - entry.queued_at:.1f} s, depth {entry.depth}"
            + (f", key {entry.key}" if entry.key else "")
            for entry in queued[:most]
        )
        if len(queued) > most:
            lines.append(f"and {len(queued) - most} more of kind {kind}")
    lines.extend(
        f"{entry.name} is held back by the height rule (height {entry.height})"
        for entry in books.held_back[:most]
    )
    return "\n".join(lines)


def dot(books: Accounts, most: int = 1000) -> str:
    """The graph of who waits for whom, in the language of Graphviz' dot.

    A box is a task: filled when it runs, dashed when it is queued. A solid arrow leads to what a task
    waits for, a dashed one to what it probably waits for.
    """
    boxes: dict[int, str] = {}
    arrows: list[str] = []
    for entry in list(books.running.values())[:most]:
        boxes[entry.id] = _box(entry)
        for other, style in _arrows(entry):
            boxes.setdefault(other.id, _box(other))
            arrows.append(f"  t{entry.id} -> t{other.id} [style={style}];")
        if entry.wait is not None and entry.wait.opaque:
            arrows.append(f"  t{entry.id} -> reactor [style=dotted];")
    lines = [f"  t{id_} {box};" for id_, box in sorted(boxes.items())]
    return "\n".join(["digraph threadpool {", "  node [shape=box];", *lines, *arrows, "}"])


def _box(entry: Entry) -> str:
    style = "dashed" if entry.state.value == "queued" else "filled"
    label = entry.name.replace("\\", "\\\\").replace('"', '\\"')
    return f'[label="{label}", style={style}]'


def _arrows(entry: Entry) -> Iterator[tuple[Entry, str]]:
    wait = entry.wait
    if wait is None:
        return
    style = "solid" if wait.awaited is not None else "dashed"
    for other in wait.pending():
        yield other, style
