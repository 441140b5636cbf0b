"""Leases of chassis: which rack may speak to which chassis, until when, and since which epoch."""

from typing import Any

from twisted.logger import Logger

from regiond.record.feed import Event, write
from regiond.record.sealing import Keys
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.errors import Conflict, StaleEpoch
from switchgear.wire.rack import Grant

_LOG = Logger(namespace="regiond.record")


def generation(cur: Cursor) -> int:
    """Return the installation's generation."""
    return int(rows(cur, "leasing.generation")[0].generation)


def hello(cur: Cursor, rack: str, incarnation: str, heir: bool) -> int:
    """Note that this incarnation of a rack is there; return the generation. Raises Conflict.

    An heir inherits at once, in `renew`, what earlier incarnations of the same rack held. One that is
    none is refused while an earlier incarnation still holds leases.
    """
    before = rows(cur, "leasing.rack", rack=rack)
    if not heir:
        (rivals,) = rows(cur, "leasing.rivals", rack=rack, incarnation=incarnation)
        if rivals.leases:
            raise Conflict(f"another rackd named {rack} holds {rivals.leases} leases")
    run(cur, "leasing.hello", rack=rack, incarnation=incarnation, heir=heir)
    if not before or before[0].incarnation != incarnation:
        write(cur, [Event(kind="rack", text=f"rack {rack} is there")])
    return generation(cur)


def renew(
    cur: Cursor, keys: Keys, rack: str, incarnation: str, after: str, page: int
) -> tuple[list[Grant], bool]:
    """Renew this rack's leases and take free ones, for at most `page` chassis named after `after`.

    Only chassis that it can have count, so a page with more after it is never empty of names.
    Returns the grants, and whether there are more. Raises StaleEpoch if a newer
    incarnation of this rack said hello since. A chassis whose secrets can't be read is left out.
    """
    known = rows(cur, "leasing.rack", rack=rack)
    if not known or known[0].incarnation != incarnation:
        raise StaleEpoch(f"rack {rack} has a newer incarnation, or said no hello")
    whose = {"rack": rack, "incarnation": incarnation, "heir": known[0].heir}
    found = [row.chassis for row in rows(cur, "leasing.page", after=after, limit=page + 1, **whose)]
    granted = rows(cur, "leasing.renew", chassis=found[:page], **whose)
    grants = [_grant(keys, row) for row in sorted(granted, key=lambda row: str(row.chassis))]
    return [grant for grant in grants if grant is not None], len(found) > page


def _grant(keys: Keys, row: Any) -> Grant | None:
    try:
        secrets = keys.unseal(row.chassis, bytes(row.secrets))
    except Conflict as error:
        _LOG.error("no lease for {chassis}: {error}", chassis=row.chassis, error=str(error))
        return None
    return Grant(
        chassis=row.chassis,
        epoch=row.epoch,
        seconds=row.lease_seconds,
        driver=row.driver,
        settings=row.settings,
        secrets=secrets,
        credentials=row.credentials,
    )
