"""The chassis of the record, with their settings and their sealed secrets."""

import json
from collections.abc import Mapping
from typing import Any

from drivers import registry
from regiond.record.faults import fault_of
from regiond.record.feed import Event, write
from regiond.record.nodes import check_name
from regiond.record.sealing import Keys
from regiond.store.cursor import Cursor
from regiond.store.named import rows, run
from switchgear.errors import Conflict, NoSuchThing
from switchgear.secret import Secret
from switchgear.wire.client import ChassisView

#: Seconds that a lease lasts longer than the longest call, so that a holder can end one in time.
LEASE_MARGIN = 15.0


def add_chassis(
    cur: Cursor,
    keys: Keys,
    name: str,
    driver: str,
    settings: Mapping[str, str],
    secrets: Mapping[str, Secret],
) -> None:
    """Enrol a chassis; checks its settings. Raises BadRequest that names wrong ones, Conflict (name)."""
    check_name("chassis", name)
    columns = _columns(keys, name, driver, settings, secrets)
    if not run(cur, "chassis.add", name=name, driver=driver, **columns):
        raise Conflict(f"there is a chassis {name} already")
    run(cur, "chassis.add_lease", name=name)
    write(cur, [Event(kind="chassis", text=f"added, driver {driver}", chassis=name)])


def set_chassis(
    cur: Cursor, keys: Keys, name: str, settings: Mapping[str, str], secrets: Mapping[str, Secret]
) -> None:
    """Change some settings or secrets; the rest stays. Checks the whole. NoSuchThing, BadRequest."""
    found = rows(cur, "chassis.for_change", name=name)
    if not found:
        raise NoSuchThing(f"there is no chassis {name[:100]}")
    (row,) = found
    # With every secret given anew, a lost key file does no harm.
    declared = {s.name for s in registry.driver(row.driver).settings if s.secret}
    kept = {} if declared <= set(secrets) else keys.unseal(name, bytes(row.secrets))
    columns = _columns(keys, name, row.driver, {**row.settings, **settings}, {**kept, **secrets})
    run(cur, "chassis.change", name=name, **columns)
    changed = ", ".join(sorted([*settings, *secrets]))
    write(cur, [Event(kind="chassis", text=f"changed: {changed}", chassis=name)])


def list_chassis(cur: Cursor, name: str, after: str, limit: int) -> list[ChassisView]:
    """Return at most `limit` chassis after `after`; only `name` (or NoSuchThing) if that is not empty."""
    found = rows(cur, "chassis.views", name=name, after=after, limit=limit)
    if name and not found and not after:
        raise NoSuchThing(f"there is no chassis {name[:100]}")
    return [_view(row) for row in found]


def _columns(
    keys: Keys,
    name: str,
    driver: str,
    settings: Mapping[str, str],
    secrets: Mapping[str, Secret],
) -> dict[str, object]:
    """Check what a chassis is set to, and return its columns."""
    checked, hidden = registry.validate(driver, settings, secrets)
    return {
        "settings": json.dumps(checked),
        "secrets": keys.seal(name, hidden),
        "secrets_set": sorted(hidden),
        "lease_seconds": registry.driver(driver).limits(checked).call + LEASE_MARGIN,
    }


def _view(row: Any) -> ChassisView:
    return ChassisView(
        name=row.name,
        driver=row.driver,
        settings=row.settings,
        secrets_set=row.secrets_set,
        credentials=row.credentials,
        nodes=row.nodes,
        rack=row.rack,
        fault=fault_of(row.fault_kind, row.fault_text),
        fault_age=row.fault_age,
    )
