"""What a command prints: tables and progress for people, one JSON object for programs.

Results go to standard output, problems and progress to standard error. Colour and progress bars appear
on a terminal only.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import define, field
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from switchgear.errors import SwitchgearError
from switchgear.wire.arguments import CONVERTER
from switchgear.wire.client import RequestView

_COLOURS = {"on": "green", "off": "bright_black", "error": "red", "broken": "red", "ready": "green"}


def _console(stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 200
    return Console(stderr=stderr, highlight=False, width=width, soft_wrap=not stream.isatty())


@define
class Output:
    """Where a command's words go. `as_json`: one JSON object at the end, nothing else."""

    as_json: bool = False
    console: Console = field(factory=lambda: _console(False))
    errors: Console = field(factory=lambda: _console(True))

    def say(self, text: str) -> None:
        """Print a line for people."""
        if not self.as_json:
            self.console.print(Text(text))

    def problem(self, text: str) -> None:
        """Print a problem for people."""
        self.errors.print(Text(f"switchgear: {text}"))

    def failed(self, error: SwitchgearError) -> None:
        """Print an error, also as JSON."""
        self.problem(str(error) or type(error).__name__)
        if self.as_json:
            self.json({"error": {"code": error.code, "text": str(error)}})

    def json(self, value: object) -> None:
        """Print one JSON object, if JSON was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(CONVERTER.unstructure(value), ensure_ascii=False) + "\n")
            sys.stdout.flush()

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table for people."""
        if self.as_json:
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            cells = [str(cell) if cell is not None else "-" for cell in row]
            table.add_row(*[Text(cell, style=_COLOURS.get(cell, "")) for cell in cells])
        self.console.print(table)

    @contextmanager
    def progress(self, what: str, nodes: int) -> Iterator[Callable[[RequestView], None]]:
        """Show how far a request is: a bar on a terminal, a line now and then elsewhere."""
        if self.as_json or not self.errors.is_terminal:
            yield self._lines(what)
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[failed]}"),
        )
        with Progress(*columns, console=self.errors) as bar:
            task = bar.add_task(what, total=nodes, failed="")

            def show(view: RequestView) -> None:
                failed = f"[red]{view.failed} failed" if view.failed else ""
                bar.update(task, completed=view.nodes - view.running, failed=failed)

            yield show

    def _lines(self, what: str) -> Callable[[RequestView], None]:
        last: list[int] = [-1]

        def show(view: RequestView) -> None:
            tenth = 10 * (view.nodes - view.running) // max(1, view.nodes)
            if tenth != last[0] and not self.as_json:
                last[0] = tenth
                ended = view.nodes - view.running
                self.errors.print(Text(f"{what}: {ended}/{view.nodes}, {view.failed} failed"))

        return show


def ago(seconds: float | None) -> str:
    """Say how long ago something was, in one unit."""
    if seconds is None:
        return "never"
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
