"""Breaking the product on purpose, in a copy: a judge that lets these pass has no teeth."""

import shutil
from pathlib import Path

from attrs import frozen


@frozen
class Patch:
    """Replace a text that occurs once in a file of the source."""

    file: str
    old: str
    new: str


SABOTAGES = {
    # The rack reads a chassis a second time, on a session of its own, while it reads it.
    "parallel": Patch(
        "rackd/conversation.py",
        "        return self._attempt(lambda session: Answered(_named(session.read())))",
        "        import threading\n"
        "        threading.Timer(0.02, lambda: self._terms.open().read()).start()\n"
        "        return self._attempt(lambda session: Answered(_named(session.read())))",
    ),
    # Every command is sent twice.
    "double": Patch(
        "rackd/conversation.py",
        "        session.command(call.slot, call.wish)\n",
        "        session.command(call.slot, call.wish)\n        session.command(call.slot, call.wish)\n",
    ),
    # A releasing node is called ready before it was seen off.
    "early-ready": Patch(
        "regiond/record/releasing.py",
        '    return [row.node for row in rows(cur, "releasing.ripe", names=names)]',
        "    cur.execute(\"SELECT node FROM life WHERE status = 'releasing'\")\n"
        "    return [row.node for row in cur.fetchall() if names is None or row.node in names]",
    ),
    # The rack acknowledges an order and forgets it.
    "lost": Patch(
        "rackd/chassis.py",
        "        self._do(self._queue.submit(self._clock.seconds(), list(orders)))",
        "        kept = [o for number, o in enumerate(orders) if number or o.wish != 'off']\n"
        "        self._do(self._queue.submit(self._clock.seconds(), kept))",
    ),
}


class NoSuchSabotage(Exception):
    """The sabotage is not known, or no longer fits the source."""


def sabotaged(name: str, target: Path) -> Path:
    """Copy the source to `target` and break it; return the copy. Raises NoSuchSabotage."""
    if name not in SABOTAGES:
        raise NoSuchSabotage(f"SABOTAGE is one of {', '.join(SABOTAGES)}, not {name!r}")
    source = Path(__file__).resolve().parents[2]
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    patch = SABOTAGES[name]
    path = target / patch.file
    text = path.read_text()
    if text.count(patch.old) != 1:
        raise NoSuchSabotage(f"the sabotage {name} does not fit {patch.file} any more")
    path.write_text(text.replace(patch.old, patch.new))
    return target
