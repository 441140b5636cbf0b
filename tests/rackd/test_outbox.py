from hypothesis import given
from hypothesis import strategies as st

from rackd.outbox import Outbox
from switchgear.power import Power
from switchgear.wire.arguments import PAGE_BYTES, to_json
from tests.rackd.values import health, progress, result, sighting


def filled(*items, now=0.0):
    """An outbox with these items."""
    box = Outbox()
    box.add(now, items)
    return box


def test_items_are_sent_in_their_order_until_they_are_acknowledged():
    """A batch that was not taken is the same again; one that was is gone."""
    items = [sighting(), result(), sighting("1")]
    box = filled(*items)
    assert box.batch(0.0) == items
    box.unsent()
    assert box.batch(0.0) == items
    box.sent()
    assert len(box) == 0
    assert box.batch(0.0) == []


def test_a_newer_word_about_the_same_thing_replaces_the_older():
    """Places, sightings and health are only worth their newest state."""
    box = filled(
        progress(place=9),
        sighting(power=Power.ON),
        health(1),
        progress("1.2"),
        progress(place=3),
        sighting(read=2, power=Power.OFF),
        health(2),
    )
    expected = [progress("1.2"), progress(place=3), sighting(read=2, power=Power.OFF), health(2)]
    assert box.batch(0.0) == expected


def test_a_sighting_stays_before_the_result_that_rests_on_it():
    """A later sighting of the slot comes after the result, and does not take the first one away."""
    items = [sighting(power=Power.OFF), result(), sighting(read=2, power=Power.ON)]
    assert filled(*items).batch(0.0) == items


def test_what_is_under_way_is_not_replaced():
    """A region may have committed it already."""
    box = filled(progress(place=9))
    box.batch(0.0)
    box.add(1.0, [progress(place=1)])
    box.unsent()
    assert box.batch(1.0) == [progress(place=9), progress(place=1)]


def test_the_age_of_a_sighting_grows_while_it_waits():
    """It is the time since the read began, at sending."""
    box = filled(sighting(age=0.5), now=10.0)
    assert box.batch(40.0) == [sighting(age=30.5)]


def test_an_item_that_a_region_cannot_take_lets_the_others_pass():
    """It is sent alone, and then put at the end."""
    box = filled(result("1.1"), result("1.2"))
    assert box.batch(0.0, alone=True) == [result("1.1")]
    box.later()
    assert box.batch(0.0) == [result("1.2"), result("1.1")]


def test_a_batch_fits_into_a_message():
    """However much there is to tell."""
    box = filled(*(result(f"1.{number}") for number in range(2000)))
    sizes = []
    while len(box):
        sizes.append(len(to_json(box.batch(0.0))))
        box.sent()
    assert len(sizes) > 1
    assert max(sizes) <= PAGE_BYTES + 2


@given(st.lists(st.sampled_from(["progress", "sighting", "result", "batch", "sent", "unsent"])))
def test_every_result_arrives_once_and_in_order(steps):
    """Whatever is merged, lost and sent again around it."""
    box = Outbox()
    told, arrived, under_way = [], [], []
    for number, step in enumerate(steps):
        match step:
            case "progress":
                box.add(0.0, [progress(place=number)])
            case "sighting":
                box.add(0.0, [sighting(read=number)])
            case "result":
                told.append(result(f"1.{number}"))
                box.add(0.0, told[-1:])
            case "batch":
                box.unsent()
                under_way = box.batch(0.0)
            case "sent":
                arrived += under_way
                under_way = []
                box.sent()
            case _:
                under_way = []
                box.unsent()
    box.unsent()
    arrived += box.batch(0.0)
    assert [item for item in arrived if item.result] == told
    seen = [item.sighting.read for item in arrived if item.sighting]
    assert seen == sorted(seen)
