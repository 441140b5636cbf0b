"""Operations: one request to change or read one node's power, with exactly one outcome."""

from enum import StrEnum, unique

from attrs import frozen


@unique
class State(StrEnum):
    """How far an operation has come. Only `ENDED` has an outcome."""

    QUEUED = "queued"
    DISPATCHED = "dispatched"
    RUNNING = "running"
    ENDED = "ended"


@unique
class Outcome(StrEnum):
    """How an operation ended. It gets one of these once, and keeps it."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


@unique
class Rank(StrEnum):
    """Who asked. The chassis queue serves persons first; confirmations are its own affair."""

    PERSON = "person"
    SWEEP = "sweep"


@frozen
class OperationId:
    """A durable id: the installation's generation, so that a restored backup reuses none, and a number."""

    generation: int
    number: int

    @classmethod
    def parse(cls, text: str) -> "OperationId":
        """Read ``generation.number``. Raises ValueError for anything else."""
        generation, _, number = text.partition(".")
        if not (
            generation.isascii() and generation.isdigit() and number.isascii() and number.isdigit()
        ):
            raise ValueError(f"{text[:40]!r} is no operation id; one looks like 1.4711")
        return cls(int(generation), int(number))

    def __str__(self) -> str:
        return f"{self.generation}.{self.number}"
