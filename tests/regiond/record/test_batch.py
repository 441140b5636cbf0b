from regiond.record.batch import sort
from switchgear.operation import Outcome
from switchgear.power import Power
from switchgear.wire.rack import Health, Progress, Result, Seen, Sighting, Stage


def sighting(read: int, power: Power, slot: str = "0") -> Seen:
    """Build a sighting of one slot."""
    one = Sighting(chassis="c", epoch=1, read=read, slot=slot, power=power, age=1.0)
    return Seen(sighting=one)


def test_the_newest_sighting_of_a_slot_counts() -> None:
    """Whatever the order they came in, the largest read of each slot is kept."""
    batch = sort([sighting(2, Power.OFF), sighting(1, Power.ON), sighting(1, Power.ON, slot="1")])
    assert [(row["slot"], row["power"]) for row in batch.sightings] == [("0", "off"), ("1", "on")]


def test_the_first_result_of_an_operation_counts() -> None:
    """An operation has one outcome: a second result in the same report is left out."""
    first = Result(
        operation="1.7",
        chassis="c",
        epoch=1,
        outcome=Outcome.SUCCEEDED,
        changed=True,
        power=Power.OFF,
    )
    second = Result(
        operation="1.7",
        chassis="c",
        epoch=1,
        outcome=Outcome.FAILED,
        changed=False,
        power=Power.ON,
    )
    batch = sort([Seen(result=first), Seen(result=second)])
    assert [row["outcome"] for row in batch.results] == ["succeeded"]
    assert batch.numbers == [7]


def test_what_can_be_no_operation_is_left_out() -> None:
    """An id that is none, or larger than any, is not handed to the database."""
    odd = [Progress(operation=text, stage=Stage.WAITING) for text in ("x", f"1.{2**70}")]
    assert sort([Seen(progress=one) for one in odd]).progress == []


def test_the_newest_health_of_a_chassis_counts() -> None:
    """Of several words on one chassis the one with the largest number is kept."""
    words = [Health(chassis="c", epoch=1, number=number) for number in (1, 3, 2)]
    assert [row["number"] for row in sort([Seen(health=one) for one in words]).health] == [3]
