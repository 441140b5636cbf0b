import re
from importlib.resources import files
from pathlib import Path

import pytest

import regiond
from regiond.store.budget import Room, share
from regiond.store.named import statement, statements
from switchgear.errors import Conflict


def topics() -> list[str]:
    """Return the names of the .sql files."""
    folder = files("regiond.store") / "sql"
    return sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir())


def used() -> set[str]:
    """Return every name of a statement that stands in the code."""
    source = Path(regiond.__file__).parent
    texts = [path.read_text("utf-8") for path in source.rglob("*.py")]
    pattern = re.compile(rf'"((?:{"|".join(topics())})\.\w+)"')
    return {name for text in texts for name in pattern.findall(text)}


def test_every_statement_is_used_and_every_used_one_exists() -> None:
    """No statement is left over, and no code names one that is not there."""
    there = {f"{topic}.{name}" for topic in topics() for name in statements(topic)}
    assert there == used()


def test_an_unknown_statement_is_an_error() -> None:
    """A wrong name fails at once."""
    with pytest.raises(KeyError):
        statement("nodes.nothing")


def test_the_share_of_a_region_is_what_is_left_by_all_others() -> None:
    """One region gets what is neither reserved nor used, less its listener; two share it."""
    room = Room(most=60, reserved=3, others=7)
    assert share(room) == 49
    assert share(room, regions=2) == 24
    assert share(room, wanted=10) == 10


def test_too_few_connections_are_refused_with_the_numbers() -> None:
    """A region that could not work says how many there are and who has them."""
    with pytest.raises(Conflict, match="10 connections, 3 are reserved and 5 used"):
        share(Room(most=10, reserved=3, others=5))
    with pytest.raises(Conflict):
        share(Room(most=60, reserved=3, others=7), wanted=50)
