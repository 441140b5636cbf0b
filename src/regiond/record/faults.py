"""Faults as two columns of a row, and back."""

from switchgear.power import ErrorClass, Fault


def fault_of(kind: str | None, text: str | None) -> Fault | None:
    """Return the fault that two columns hold; None if there is none."""
    return None if kind is None else Fault(ErrorClass(kind), text or "")


def columns(fault: Fault | None) -> dict[str, str | None]:
    """Return the two columns of a fault."""
    if fault is None:
        return {"fault_kind": None, "fault_text": None}
    return {"fault_kind": fault.kind.value, "fault_text": fault.text}
