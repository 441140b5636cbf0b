"""What the demo prints: a table for people, and as its last line a list of objects for programs."""

import json
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from switchgear_cli.demo.judge import Verdict

_TITLES = {
    1: "release",
    2: "release, regiond killed",
    3: "release, rackd killed",
    4: "mark broken, mark fixed",
}
_COLUMNS = (
    ("nodes", "nodes"),
    ("ready", "ready"),
    ("stuck", "stuck"),
    ("seconds", "seconds"),
    ("serial_bound_seconds", "bound"),
    ("max_sessions_per_chassis", "sessions"),
    ("commands_per_node_max", "commands"),
    ("unneeded_commands", "unneeded"),
    ("requests_per_node_mean", "requests/node"),
    ("peak_threads", "threads"),
    ("peak_db_connections", "db conn."),
)


def print_verdicts(verdicts: Sequence[Verdict], console: Console) -> None:
    """Print the table, every broken rule, and the list of figures as the last line."""
    table = Table(title="What the chassis saw", title_justify="left")
    table.add_column("act")
    for _, heading in _COLUMNS:
        table.add_column(heading, justify="right")
    table.add_column("faults met", justify="right")
    table.add_column("")
    for verdict in verdicts:
        figures = verdict.figures
        cells = [str(figures[key]) for key, _ in _COLUMNS]
        faults = str(sum(figures["faults"].values()))
        mark = "[red]rule broken" if verdict.broken else "[green]good"
        table.add_row(f"{figures['act']} {_TITLES[figures['act']]}", *cells, faults, mark)
    console.print(table)
    for verdict in verdicts:
        for rule in verdict.broken:
            console.print(f"[red]act {verdict.figures['act']}: {rule}")
    sys.stdout.write(json.dumps([dict(verdict.figures) for verdict in verdicts]) + "\n")
    sys.stdout.flush()
