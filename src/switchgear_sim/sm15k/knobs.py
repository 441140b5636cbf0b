"""What can be set on a simulated chassis, at start and while it runs."""

from typing import Any

import attrs
import cattrs
from attrs import evolve, frozen

#: A range of seconds, drawn from evenly.
Range = tuple[float, float]


@frozen(kw_only=True)
class Knobs:
    """How the chassis behaves. Rates are shares of 1; ranges are seconds.

    Faults: `drop_rate` of the requests lose their connection, every second one after it was executed;
    `error_rate` answer 500 and are not executed; `slow_rate` take `slow` seconds.
    `frozen` takes requests and never answers; `refuse` closes the port; `garbage` answers HTML;
    `unauthorized_inside` answers an error 401 within a 200; `never_off` and `never_on` name servers
    that accept a command and stay as they are; commands to `busy` ones are refused with 503.
    """

    servers: int = 64
    user: str = "admin"
    password: str = "seamicro"  # noqa: S105 # the factory's, as printed in the manual
    read_service: Range = (0.05, 0.15)
    command_service: Range = (0.05, 0.15)
    off_effect: Range = (1.0, 3.0)
    on_effect: Range = (1.0, 3.0)
    drop_rate: float = 0.01
    error_rate: float = 0.01
    slow_rate: float = 0.005
    slow: Range = (3.0, 10.0)
    frozen: bool = False
    refuse: bool = False
    garbage: bool = False
    unauthorized_inside: bool = False
    never_off: frozenset[str] = frozenset()
    never_on: frozenset[str] = frozenset()
    busy: frozenset[str] = frozenset()

    def changed(self, changes: dict[str, Any]) -> "Knobs":
        """Return the knobs with some turned. `service` turns both service times. Raises ValueError."""
        wanted = dict(changes)
        if "service" in wanted:
            service = wanted.pop("service")
            wanted.setdefault("read_service", service)
            wanted.setdefault("command_service", service)
        fields: dict[str, Any] = {field.name: field.type for field in attrs.fields(Knobs)}
        unknown = set(wanted) - set(fields)
        if unknown or "servers" in wanted:
            raise ValueError(f"no such knob: {', '.join(sorted(unknown)) or 'servers (fixed)'}")
        try:
            parsed = {name: cattrs.structure(value, fields[name]) for name, value in wanted.items()}
        except Exception as error:
            raise ValueError(f"a knob's value does not fit: {type(error).__name__}") from error
        return evolve(self, **parsed)
