"""The small parts of the region's shell: the hub, the looking loop, the key file, the configuration."""

from pathlib import Path

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import TestCase

from regiond.config import Config
from regiond.hub import Hub
from regiond.keyfile import SIZE, KeyFileError, read_or_make
from regiond.looking import AT_LEAST, EVERY, Looker
from switchgear.configuring import ConfigError, parse

CONFIG = """{"dsn": "password=S3cr-marker-91", "key_file": "secret.key",
 "web": {"host": "127.0.0.1", "port": 5240}, "clients": {"host": "localhost", "port": 5241},
 "racks": {"host": "127.0.0.1", "port": 5242}%s}"""


def test_hints_reach_all_and_a_defect_only_itself() -> None:
    """One subscriber that fails keeps no other from looking; an ended subscription hears no more."""
    hub, heard = Hub(), []
    hub.subscribe(lambda: heard.append(1 // 0))
    end = hub.subscribe(lambda: heard.append(2))
    hub.hint()
    end()
    hub.hint()
    assert heard == [2]


class LookerTests(TestCase):
    """See `Looker`."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.looks: list[float] = []
        self.failing = False
        self.flushLoggedErrors()

    async def look(self) -> None:
        self.looks.append(self.clock.seconds())
        if self.failing:
            raise RuntimeError("away")

    def test_it_looks_anyway(self) -> None:
        """Without a hint, a look comes every two seconds."""
        looker = Looker(self.clock, "test", self.look)
        looker.start()
        for _ in range(100):
            self.clock.advance(0.1)
        self.assertGreaterEqual(len(self.looks), int(10 / (EVERY + AT_LEAST + 0.1)))

    def test_many_hints_are_one_look(self) -> None:
        """Hints during a look, or right after it, make one more look."""
        looker = Looker(self.clock, "test", self.look)
        looker.start()
        for _ in range(50):
            looker.hint()
        self.clock.advance(AT_LEAST)
        self.clock.advance(AT_LEAST)
        self.assertEqual(len(self.looks), 2)

    def test_failures_pause_longer_and_longer(self) -> None:
        """A look that fails is tried again, not in a tight loop; then all is as before."""
        self.failing = True
        looker = Looker(self.clock, "test", self.look)
        looker.start()
        for _ in range(600):
            self.clock.advance(0.1)
        self.assertLess(len(self.looks), 25)
        self.failing = False
        self.clock.advance(6)
        self.clock.advance(AT_LEAST)
        before = len(self.looks)
        looker.hint()
        self.clock.advance(0)
        self.assertEqual(len(self.looks), before + 1)

    def test_stop_waits_for_the_look_that_runs(self) -> None:
        """Stopping ends the loop after the look in work."""
        running: Deferred[None] = Deferred()

        async def slow() -> None:
            await running

        looker = Looker(self.clock, "test", slow)
        looker.start()
        stopped = Deferred.fromCoroutine(looker.stop())
        self.assertNoResult(stopped)
        running.callback(None)
        self.clock.advance(AT_LEAST)
        self.successResultOf(stopped)


def test_the_key_is_made_once_and_closed(tmp_path: Path) -> None:
    """The first start makes the key file, only for us; later ones read it."""
    path = tmp_path / "deep" / "secret.key"
    key = read_or_make(path)
    assert len(key) == SIZE
    assert path.stat().st_mode & 0o077 == 0
    assert read_or_make(path) == key


def test_a_wrong_key_file_is_not_replaced(tmp_path: Path) -> None:
    """A torn or foreign file is an error, and stays: it may hold what is left of the key."""
    path = tmp_path / "secret.key"
    path.write_bytes(b"short")
    with pytest.raises(KeyFileError, match="5 bytes"):
        read_or_make(path)
    assert path.read_bytes() == b"short"
    with pytest.raises(KeyFileError):
        read_or_make(tmp_path)


def test_configuration(tmp_path: Path) -> None:
    """A good file is understood, with paths from its folder; its text has no connection string."""
    config = parse(CONFIG % "", tmp_path / "regiond.json", Config)
    assert config.key_file == tmp_path / "secret.key"
    assert (config.pool.base, config.pool.ceiling, config.pool.leases) == (10, 40, None)
    assert "S3cr-marker-91" not in repr(config)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (', "pool": {"base": 5, "ceiling": 2}', "base must be 1 to ceiling"),
        (', "pool": {"leases": 0}', "leases must be 1 or more"),
        (', "colour": 1', "colour"),
        (', "name": 5', "name"),
    ],
)
def test_wrong_configuration_is_named(tmp_path: Path, more: str, words: str) -> None:
    """Every wrong field is named."""
    with pytest.raises(ConfigError, match=words):
        parse(CONFIG % more, tmp_path / "regiond.json", Config)
