"""Bounds that cannot be kept are refused when they are given."""

from typing import Any

import pytest

from threadpool import PoolSettings


@pytest.mark.parametrize(
    "wrong", [{"base": 0}, {"base": 5, "ceiling": 4}, {"leases": 0}, {"quotas": {"io": 0}}]
)
def test_bounds_below_one_or_crossed_are_refused(wrong: dict[str, Any]) -> None:
    """With a text that names the bound."""
    with pytest.raises(ValueError, match=r"base|leases|quota"):
        PoolSettings(**wrong)


def test_database_tasks_are_bounded_by_quota_and_leases() -> None:
    """Whichever is smaller."""
    assert PoolSettings(quotas={"db": 5, "io": 7}, leases=9).places() == {"db": 5, "io": 7}
    assert PoolSettings(leases=3).places()["db"] == 3
