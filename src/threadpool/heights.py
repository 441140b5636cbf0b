"""The height rule: how many tasks that will wait may run, so that the last one always can.

A task of height h waits for tasks of height h - 1 at most, and so on down to 0, which wait for none.
With N threads, at most N - k tasks of height k or more run at a time, for every k: then at least k
threads are left for what is lower, level by level, and every ready task is reached. To order the
deepest first, or to limit the roots alone, is not enough; `tests/threadpool/test_heights.py`
explores every schedule to show both.
"""


class Heights:
    """The running tasks by declared height. `count[k - 1]` of them have height k or more."""

    def __init__(self) -> None:
        self.count: list[int] = []

    def admits(self, height: int, threads: int) -> bool:
        """Whether one more task of this height may run among so many threads."""
        return all(
            (self.count[k - 1] if k <= len(self.count) else 0) + 1 <= threads - k
            for k in range(1, height + 1)
        )

    def enter(self, height: int) -> None:
        """It runs."""
        self.count.extend([0] * (height - len(self.count)))
        for k in range(height):
            self.count[k] += 1

    def leave(self, height: int) -> None:
        """It has ended."""
        for k in range(height):
            self.count[k] -= 1
