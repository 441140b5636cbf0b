"""How to speak to a chassis, from the grant of its lease: the driver, its limits, its credentials."""

from collections.abc import Callable
from functools import partial

from attrs import frozen

from drivers.interfaces import DriverError, Fate, ISession, Limits
from drivers.registry import driver
from switchgear.errors import BadRequest
from switchgear.power import ErrorClass, Fault
from switchgear.wire.rack import Grant


@frozen(kw_only=True)
class Terms:
    """`open` makes a session and sends nothing yet. `credentials` grows with every change of them."""

    limits: Limits
    credentials: int
    open: Callable[[], ISession]


def terms(grant: Grant) -> Terms:
    """Return the terms of a grant. If its driver can't be used here, every `open` says so."""
    try:
        chosen = driver(grant.driver)
        limits = chosen.limits(grant.settings)
    except (BadRequest, LookupError, ValueError) as error:
        fault = Fault(ErrorClass.SETTINGS, f"driver {grant.driver!r} can't be used: {error}")
        return Terms(limits=Limits(), credentials=grant.credentials, open=partial(_refuse, fault))
    return Terms(
        limits=limits,
        credentials=grant.credentials,
        open=partial(chosen.open, grant.settings, grant.secrets),
    )


def _refuse(fault: Fault) -> ISession:
    raise DriverError(fault, Fate.NOT_ACCEPTED)
