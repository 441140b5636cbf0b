"""A rack's report, sorted: of each thing the last word that counts, as rows for the statements."""

from collections.abc import Sequence

from attrs import frozen

from regiond.record.faults import columns
from switchgear.operation import OperationId
from switchgear.wire.rack import Health, Progress, Result, Seen, Sighting

Row = dict[str, object]


@frozen(kw_only=True)
class Batch:
    """The rows of one report. `numbers`: of the operations that its results are about."""

    sightings: list[Row]
    progress: list[Row]
    results: list[Row]
    health: list[Row]
    numbers: list[int]


def sort(items: Sequence[Seen]) -> Batch:
    """Sort a report. Of the sightings of a slot the newest counts, of the results of an operation the first.

    What has no operation id is left out.
    """
    sightings: dict[tuple[str, str], Sighting] = {}
    progress: dict[int, tuple[OperationId, Progress]] = {}
    results: dict[int, tuple[OperationId, Result]] = {}
    health: dict[str, Health] = {}
    for item in items:
        if (sighting := item.sighting) is not None:
            key = sighting.chassis, sighting.slot
            if key not in sightings or _order(sighting) > _order(sightings[key]):
                sightings[key] = sighting
        if item.progress is not None and (known := _id(item.progress.operation)):
            progress[known.number] = known, item.progress
        if item.result is not None and (known := _id(item.result.operation)):
            results.setdefault(known.number, (known, item.result))
        if (word := item.health) is not None:
            kept = health.get(word.chassis, word)
            if (word.epoch, word.number) >= (kept.epoch, kept.number):
                health[word.chassis] = word
    return Batch(
        sightings=[_sighting(one) for one in sightings.values()],
        progress=[_progress(*one) for one in progress.values()],
        results=[_result(*one) for one in results.values()],
        health=[_health(one) for one in health.values()],
        numbers=sorted(results),
    )


def _id(text: str) -> OperationId | None:
    try:
        found = OperationId.parse(text)
    except ValueError:
        return None
    return found if max(found.generation, found.number) < 2**63 else None


def _order(sighting: Sighting) -> tuple[int, int]:
    return sighting.epoch, sighting.read


def _sighting(one: Sighting) -> Row:
    return {
        "chassis": one.chassis,
        "epoch": one.epoch,
        "read": one.read,
        "slot": one.slot,
        "power": one.power,
        "age": max(one.age, 0.0),
    }


def _progress(known: OperationId, one: Progress) -> Row:
    return {
        "number": known.number,
        "generation": known.generation,
        "stage": one.stage,
        "place": one.place,
        "wait": one.wait,
    }


def _result(known: OperationId, one: Result) -> Row:
    return {
        "number": known.number,
        "generation": known.generation,
        "chassis": one.chassis,
        "epoch": one.epoch,
        "outcome": one.outcome,
        "changed": one.changed,
        "power": one.power,
        "commands": one.commands,
        **columns(one.fault),
    }


def _health(one: Health) -> Row:
    return {
        "chassis": one.chassis,
        "epoch": one.epoch,
        "number": one.number,
        **columns(one.fault),
    }
