"""The chassis queue: one chassis, one session, no request too many. A pure state machine.

Time, chance and the chassis are arguments; calls are started by returned actions and ended by inputs.
See docs/chassis-queue.md for the picture.
"""

from rackd.queue.machine import ChassisQueue
from rackd.queue.values import (
    Accepted,
    Action,
    Answered,
    Broke,
    CloseSession,
    Found,
    Intent,
    Outcome,
    StartCommand,
    StartRead,
    Tell,
)

__all__ = [
    "Accepted",
    "Action",
    "Answered",
    "Broke",
    "ChassisQueue",
    "CloseSession",
    "Found",
    "Intent",
    "Outcome",
    "StartCommand",
    "StartRead",
    "Tell",
]
