import json
from pathlib import Path

import pytest

from rackd.config import ConfigError, PoolSize, RegionAddress, load, parse

GOOD = {"name": "rack-1", "state": "state", "regions": [{"host": "127.0.0.1", "port": 5241}]}


def wrong(change, *words):
    """Expect that a configuration with this change is refused with these words."""
    with pytest.raises(ConfigError) as caught:
        parse(json.dumps(GOOD | change), Path("/etc/rackd.json"))
    text = str(caught.value)
    assert "/etc/rackd.json" in text
    for word in words:
        assert word in text


def test_everything_that_is_not_said_has_a_default(tmp_path):
    """Paths count from the file's folder; the pool has a size, the log goes to standard error."""
    file = tmp_path / "rackd.json"
    file.write_text(json.dumps(GOOD))
    config = load(file)
    assert config.state == tmp_path / "state"
    assert config.regions == (RegionAddress("127.0.0.1", 5241),)
    assert (config.pool, config.log) == (PoolSize(), None)


def test_everything_can_be_said():
    """Each field is taken as it is written; null means no log file."""
    text = json.dumps(GOOD | {"pool": {"base": 2, "ceiling": 3}, "log": "/var/log/rackd"})
    config = parse(text, Path("/etc/rackd.json"))
    assert config.pool == PoolSize(2, 3)
    assert config.log == Path("/var/log/rackd")
    assert parse(json.dumps(GOOD | {"log": None}), Path("/etc/rackd.json")).log is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, ["name must not be empty"]),
        ({"name": 7}, ["name"]),
        ({"regions": []}, ["regions must not be empty"]),
        ({"regions": [{"host": "127.0.0.1", "port": 70000}]}, ["regions[0]", "1 to 65535"]),
        ({"regions": [{"host": "10.0.0.1", "port": 1}]}, ["10.0.0.1", "without encryption"]),
        ({"regions": [{"host": "127.0.0.1"}]}, ["port"]),
        ({"pool": {"base": 5, "ceiling": 4}}, ["base must be 1 to ceiling"]),
        ({"stat": "x"}, ["stat"]),
    ],
)
def test_a_wrong_field_is_named(change, words):
    """The text says which field is wrong and what it should be."""
    wrong(change, *words)


def test_a_missing_field_is_named():
    """A field that must be there is asked for by its name."""
    with pytest.raises(ConfigError, match="state"):
        parse(json.dumps({k: v for k, v in GOOD.items() if k != "state"}), Path("r.json"))


def test_what_is_not_json_is_said_to_be_so(tmp_path):
    """A torn file and a file that is not there are told apart."""
    with pytest.raises(ConfigError, match="is not JSON"):
        parse("{", Path("r.json"))
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "none.json")
