"""How the tasks come: one at a time, some in flight, or all at once. Measured in interleaved rounds."""

import gc
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred

from .contestants import Contestants, Defer


@frozen
class Shape:
    """`tasks` are handed in so that `in_flight` of them have not ended; `rounds` are measured."""

    name: str
    tasks: int
    in_flight: int
    rounds: int = 15


SHAPES = (
    Shape("seq", 300, 1, 41),
    Shape("window10", 1_000, 10, 31),
    Shape("window100", 2_000, 100, 31),
    Shape("burst1000", 1_000, 1_000, 31),
    Shape("burst20000", 20_000, 20_000, 15),
)

BARS = {"seq": 0.90, "window10": 0.65, "window100": 0.50, "burst1000": 0.50, "burst20000": 0.65}


@frozen(kw_only=True)
class Figures:
    """Medians in microseconds a task; `ratio` is ours to Twisted's of the same round, its median.

    `low` and `high` enclose the ratio's median with 95 % (order statistics of the rounds).
    """

    twisted_us: float
    executor_us: float
    ours_us: float
    ratio: float
    low: float
    high: float


@contextmanager
def one_cpu() -> Iterator[None]:
    """Keep this process, and the threads it makes meanwhile, on one CPU."""
    before = os.sched_getaffinity(0)
    cpu = max(before)
    _pin_threads({cpu})
    try:
        yield
    finally:
        _pin_threads(before)


def _pin_threads(cpus: set[int]) -> None:
    for thread in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(thread.name), cpus)
        except ProcessLookupError:
            continue  # it ended meanwhile


def nothing(value: int) -> int:
    """The task: what is measured is all that is around it."""
    return value


def play(shape: Shape, defer: Defer) -> "Deferred[None]":
    """Hand in all tasks of a shape; fires when the last one has ended."""
    done: Deferred[None] = Deferred()
    left = to_come = shape.tasks

    def ended(_: Any) -> None:
        nonlocal left
        left -= 1
        if to_come:
            more()
        elif not left:
            done.callback(None)

    def more() -> None:
        nonlocal to_come
        to_come -= 1
        defer(nothing, to_come).addCallback(ended)

    for _ in range(shape.in_flight):
        more()
    return done


async def measure(shape: Shape, contestants: Contestants) -> Figures:
    """Play rounds, each contestant once a round, in turning order; the first round is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in contestants.ways}
    names = list(taken)
    with one_cpu():
        for number in range(shape.rounds + 1):
            for name in names:
                seconds = await _once(shape, contestants.ways[name])
                if number:
                    taken[name].append(seconds * 1e6 / shape.tasks)
            names = [*names[1:], names[0]]
    return _figures(taken)


async def _once(shape: Shape, defer: Defer) -> float:
    gc.collect()
    began = time.perf_counter()
    await play(shape, defer)
    return time.perf_counter() - began


def _figures(taken: Mapping[str, list[float]]) -> Figures:
    ratios = sorted(o / t for o, t in zip(taken["ours"], taken["twisted"], strict=True))
    # Ranks of a distribution-free interval of the median: n/2 -+ 0.98 sqrt(n).
    away = 0.98 * len(ratios) ** 0.5
    middle = (len(ratios) - 1) / 2
    return Figures(
        twisted_us=median(taken["twisted"]),
        executor_us=median(taken["executor"]),
        ours_us=median(taken["ours"]),
        ratio=median(ratios),
        low=ratios[max(0, int(middle - away))],
        high=ratios[min(len(ratios) - 1, int(middle + away + 1))],
    )
