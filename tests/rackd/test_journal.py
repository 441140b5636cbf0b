import os

import pytest
from attrs import evolve

from rackd import journal as module
from rackd.journal import End, Journal, Line, alive, understand
from switchgear.power import Wish
from switchgear.wire.arguments import to_json

LINE = Line(
    chassis="c1", slot="7/0", wish=Wish.OFF, operation="1.1", at=100.0, boot="b", effect=120.0
)


@pytest.fixture
def path(tmp_path):
    """Where the journal is."""
    return tmp_path / "journal"


@pytest.fixture
def life(path):
    """Begin a rack's life: the journal as it opens it. All are closed at the end."""
    journals = []

    def begin(now=100.0, boot="b"):
        journals.append(Journal(path, boot))
        journals[-1].open(now)
        return journals[-1]

    yield begin
    for journal in journals:
        journal.close()


def test_an_intent_without_an_end_is_left_to_the_next_life(life):
    """The rack died before it knew what became of the command."""
    life().intend(LINE)
    assert life(now=150.0).left("c1") == [LINE]
    assert life(now=150.0).left("c2") == []


@pytest.mark.parametrize(
    ("end", "count"), [(End.ACCEPTED, 1), (End.UNKNOWN, 1), (End.NOT_ACCEPTED, 0)]
)
def test_only_a_command_that_was_not_accepted_is_forgotten(life, end, count):
    """Any other one may still take effect."""
    journal = life()
    journal.intend(LINE)
    journal.ended(LINE, end)
    assert len(life(now=150.0).left("c1")) == count


def test_what_can_have_no_effect_any_more_is_forgotten(life):
    """An intent counts for the driver's longest effect time."""
    life().intend(LINE)
    assert life(now=221.0).left("c1") == []


def test_the_last_intent_of_a_slot_counts():
    """An on that followed an off is what is remembered."""
    later = evolve(LINE, wish=Wish.ON, at=110.0)
    assert alive([LINE, later], 120.0, "b") == [later]


def test_after_a_restart_of_the_host_an_intent_counts_as_sent_now(life):
    """Its clock began anew, so that nobody knows how old it is; later lives count from there."""
    life().intend(LINE)
    moved = evolve(LINE, boot="other", at=20.0)
    assert life(now=20.0, boot="other").left("c1") == [moved]
    assert life(now=60.0, boot="other").left("c1") == [moved]


def test_a_torn_last_line_is_left_out(life, path):
    """A power cut in the middle of a line costs that line only."""
    path.write_bytes(to_json(LINE) + b'\n{"chassis":"c1","slo')
    journal = life()
    assert journal.left("c1") == [LINE]
    journal.intend(evolve(LINE, slot="8/0"))
    assert [line.slot for line in life().left("c1")] == ["7/0", "8/0"]
    assert understand(b"\xff\xfe\n\n{}") == ([], 3)


def test_an_intent_is_on_the_disk_before_it_is_sent(life, monkeypatch):
    """And an end, which is worth less, costs no wait for the disk."""
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    journal = life()
    synced.clear()
    journal.intend(LINE)
    assert synced == [len(to_json(LINE)) + 1]
    journal.ended(LINE, End.ACCEPTED)
    assert len(synced) == 1


def test_the_file_stays_small(life, path, monkeypatch):
    """What no longer counts is left out when the file has grown."""
    monkeypatch.setattr(module, "COMPACT_ABOVE", 2000)
    journal = life()
    for number in range(100):
        line = evolve(LINE, operation=f"1.{number}", at=100.0 + number)
        journal.intend(line)
        journal.ended(line, End.ACCEPTED)
    assert path.stat().st_size < 2500
    assert life(now=200.0).left("c1")[0].operation == "1.99"
    assert [file.name for file in path.parent.iterdir()] == ["journal"]


def test_a_full_disk_keeps_the_command_from_being_sent(life, monkeypatch):
    """The intent fails, and leaves no half line behind."""
    journal = life()
    journal.intend(LINE)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        journal.intend(evolve(LINE, slot="8/0"))
    monkeypatch.undo()
    journal.intend(evolve(LINE, slot="9/0"))
    assert [line.slot for line in life().left("c1")] == ["7/0", "9/0"]
