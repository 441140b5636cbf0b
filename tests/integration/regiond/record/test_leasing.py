import pytest

from regiond.record import chassis, leasing
from regiond.record.sealing import Keys
from switchgear.errors import BadRequest, Conflict, NoSuchThing, StaleEpoch
from switchgear.secret import Secret
from switchgear.wire.rack import Grant
from tests.integration.regiond.record.world import PASSWORD, World


def renew(world: World, rack: str, incarnation: str) -> list[Grant]:
    """Let a rack renew, and return its first page of grants."""
    return world.do(leasing.renew, world.keys, rack, incarnation, "", 200)[0]


def test_one_rack_holds_a_chassis_until_its_lease_ran_out(world: World) -> None:
    """A second rack gets nothing before the lease of the first ended, and then a larger epoch."""
    world.enrol(1)
    world.do(leasing.hello, "a", "i1", True)
    world.do(leasing.hello, "b", "i1", True)
    (first,) = renew(world, "a", "i1")
    assert (first.epoch, first.seconds) == (1, 20.0)
    assert first.secrets["password"].reveal() == PASSWORD
    assert renew(world, "b", "i1") == []
    assert renew(world, "a", "i1") == [first]
    world.lapse()
    (second,) = renew(world, "b", "i1")
    assert second.epoch == 2
    assert renew(world, "a", "i1") == []


def test_an_heir_inherits_at_once_and_ends_its_forerunner(world: World) -> None:
    """A restarted rack that holds its host's lock gets its chassis back at once, with a new epoch."""
    world.enrol(1)
    world.rack("a", "i1")
    world.do(leasing.hello, "a", "i2", True)
    assert [grant.epoch for grant in renew(world, "a", "i2")] == [2]
    with pytest.raises(StaleEpoch):
        renew(world, "a", "i1")


def test_a_stranger_with_the_name_of_a_living_rack_is_refused(world: World) -> None:
    """Without the host's lock, a second rackd of one name gets nothing while the first is there."""
    world.enrol(1)
    world.rack("a", "i1")
    with pytest.raises(Conflict, match="holds 1 leases"):
        world.do(leasing.hello, "a", "i2", False)
    world.lapse()
    world.do(leasing.hello, "a", "i2", False)
    assert [grant.epoch for grant in renew(world, "a", "i2")] == [2]


def test_leases_come_in_pages(world: World) -> None:
    """A page has at most its number of chassis, and tells whether there are more."""
    for number in range(5):
        world.enrol(0, name=f"sm-{number}")
    world.do(leasing.hello, "a", "i1", True)
    page, more = world.do(leasing.renew, world.keys, "a", "i1", "", 3)
    assert ([grant.chassis for grant in page], more) == (["sm-0", "sm-1", "sm-2"], True)
    page, more = world.do(leasing.renew, world.keys, "a", "i1", "sm-2", 3)
    assert ([grant.chassis for grant in page], more) == (["sm-3", "sm-4"], False)


def test_a_raised_generation_raises_every_epoch_far_above_the_old_ones(world: World) -> None:
    """After a restored backup, no epoch of before can be mistaken for a newer one."""
    world.enrol(1)
    world.rack("a", "i1")
    world.sql("UPDATE installation SET generation = 2")
    world.lapse()
    world.do(leasing.hello, "b", "i1", True)
    assert [grant.epoch for grant in renew(world, "b", "i1")] == [2**32 + 1]


def test_secrets_are_in_no_row_in_clear_and_can_be_changed_alone(world: World) -> None:
    """The password is in no table in clear, is never shown, and other settings change without it."""
    world.enrol(1)
    tables = world.sql(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    )
    dump = [repr(world.sql(f"SELECT t::text FROM {row.relname} t")) for row in tables]
    assert len(dump) > 10
    assert not any(PASSWORD in text or PASSWORD.encode().hex() in text for text in dump)
    world.do(chassis.set_chassis, world.keys, "sm-1", {"slots": "16"}, {})
    world.rack("a", "i1")
    (grant,) = renew(world, "a", "i1")
    assert (grant.secrets["password"].reveal(), grant.credentials) == (PASSWORD, 2)
    (view,) = world.do(chassis.list_chassis, "sm-1", "", 10)
    assert (view.secrets_set, view.settings["slots"], view.rack) == (["password"], "16", "a")
    assert PASSWORD not in repr(view)


def test_another_key_file_gives_no_lease_and_new_secrets_heal_it(world: World) -> None:
    """With a lost key file a chassis is left alone, until its secrets were given anew."""
    world.enrol(1)
    world.keys = Keys(b"x" * 32)
    world.do(leasing.hello, "a", "i1", True)
    assert renew(world, "a", "i1") == []
    with pytest.raises(Conflict):
        world.do(chassis.set_chassis, world.keys, "sm-1", {"slots": "16"}, {})
    world.do(chassis.set_chassis, world.keys, "sm-1", {}, {"password": Secret("new")})
    assert renew(world, "a", "i1")[0].secrets["password"].reveal() == "new"


def test_wrong_settings_are_refused_by_name(world: World) -> None:
    """A chassis with wrong settings, a taken or an odd name is not enrolled."""
    world.enrol(0)
    with pytest.raises(BadRequest, match="colour"):
        world.do(chassis.add_chassis, world.keys, "c", "memory", {"colour": "red"}, {})
    with pytest.raises(BadRequest, match="driver"):
        world.do(chassis.add_chassis, world.keys, "c", "nothing", {}, {})
    with pytest.raises(BadRequest, match="is no name"):
        world.do(chassis.add_chassis, world.keys, "a b", "memory", {"chassis": "c"}, {})
    with pytest.raises(Conflict):
        world.do(chassis.add_chassis, world.keys, "sm-1", "memory", {"chassis": "c"}, {})
    with pytest.raises(NoSuchThing):
        world.do(chassis.set_chassis, world.keys, "c", {}, {})
    with pytest.raises(NoSuchThing):
        world.do(chassis.list_chassis, "c", "", 10)
