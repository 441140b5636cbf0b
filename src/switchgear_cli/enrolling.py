"""Enrolment in a process of its own: the supervisor itself runs no reactor.

``python -m switchgear_cli.enrolling`` gets what it needs on standard input, so that no secret is on a
command line.
"""

import json
import subprocess
import sys
from typing import Any

from twisted.internet.defer import Deferred

from switchgear.client import Client
from switchgear_cli.enrol import enrol
from switchgear_cli.up.errors import CantStart
from switchgear_cli.up.plans import Enrolment
from switchgear_cli.up.stack import Stack

#: Seconds that the enrolment of everything may take.
LIMIT = 300.0


def enrol_in_process(stack: Stack) -> None:
    """Enrol the chassis of a stack. Raises CantStart."""
    given = Enrolment.of(stack)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "switchgear_cli.enrolling"],
            input=given.dump().encode(),
            timeout=LIMIT,
            check=False,
            env=dict(stack.environment()),
        )
    except subprocess.TimeoutExpired:
        raise CantStart(f"the simulated chassis were not enrolled within {LIMIT:g} s") from None
    if done.returncode != 0:
        raise CantStart("the simulated chassis could not be enrolled")


async def _enrol(reactor: Any, given: Enrolment) -> None:
    client = await Client.connect(reactor, given.region, name="switchgear-up")
    try:
        await enrol(client, given, lambda text: print(text, flush=True))
    finally:
        await client.close()


def main() -> None:
    """Read what to enrol, and enrol it."""
    from twisted.internet.task import react

    given = Enrolment.load(json.load(sys.stdin))
    react(lambda reactor: Deferred.fromCoroutine(_enrol(reactor, given)))


if __name__ == "__main__":
    main()
