"""The daemons' clock: it never goes back, and tells one start of the host from another."""

import time
from pathlib import Path

import pytest

from switchgear import clock


def test_it_never_goes_back() -> None:
    """Leases and limits are counted with it."""
    readings = [clock.seconds() for _ in range(1000)]
    assert readings == sorted(readings)


def test_it_counts_from_the_start_of_the_host_with_its_sleep() -> None:
    """It is never behind the clock that stands still while the host sleeps."""
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    assert clock.seconds() >= before


def test_it_does_not_follow_the_time_of_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time of day that jumps breaks nothing."""
    before = clock.seconds()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert 0.0 <= clock.seconds() - before < 60.0


def test_a_start_of_the_host_has_one_name() -> None:
    """A rack's journal of an earlier start is told from its own by it."""
    assert clock.boot_id() == clock.boot_id()
    assert clock.boot_id() == clock.boot_id().strip()


def test_a_host_that_does_not_say_has_no_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is no error; who asks takes care of the worst case."""
    monkeypatch.setattr(clock, "_BOOT_ID", tmp_path / "missing")
    assert clock.boot_id() == ""
