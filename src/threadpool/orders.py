"""What the decisions ask of the threads: values, carried out after the lock is released."""

from typing import final

from attrs import frozen

from .entry import Wait


@final
@frozen
class Wake:
    """Wake this parked worker; it looks for work by itself."""

    worker: object


@final
@frozen
class Grow:
    """Start one more thread; with `newest` it begins with the youngest queued task."""

    newest: bool = False


@final
@frozen
class Ring:
    """This wait is over, or is to help: wake its thread."""

    wait: Wait


@final
@frozen
class Warn:
    """Tell the operator, once per starvation episode."""

    text: str


Order = Wake | Grow | Ring | Warn
