"""What is enrolled of a stack: its region, and its chassis with their password."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from switchgear.secret import Secret
from switchgear_cli.up.ports import HOST

if TYPE_CHECKING:
    from switchgear_cli.up.stack import Stack


@frozen(kw_only=True)
class Enrolment:
    """Chassis by name with the base of their REST API, and the password of all."""

    region: str
    urls: Mapping[str, str]
    password: Secret

    @classmethod
    def of(cls, stack: "Stack") -> "Enrolment":
        """Return what a stack has to enrol."""
        return cls(
            region=f"{HOST}:{stack.plan.client_port}",
            urls={chassis.name: chassis.url for chassis in stack.plan.chassis},
            password=Secret(stack.password()),
        )

    def dump(self) -> str:
        """Write it for another process' standard input."""
        return json.dumps([self.region, dict(self.urls), self.password.reveal()])

    @classmethod
    def load(cls, plain: Any) -> "Enrolment":
        """Read what `dump` wrote."""
        region, urls, password = plain
        return cls(region=region, urls=urls, password=Secret(password))
