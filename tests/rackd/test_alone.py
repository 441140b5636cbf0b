import os
import stat

import pytest

from rackd.alone import AlreadyRunning, State


def test_a_state_folder_is_held_by_one(tmp_path):
    """The second one is told who holds the folder; after the first has left, it gets it."""
    folder = tmp_path / "a" / "state"
    first = State.take(folder)
    with pytest.raises(AlreadyRunning, match=rf"process {os.getpid()}.*{folder}"):
        State.take(folder)
    first.leave()
    State.take(folder).leave()


def test_the_folder_is_closed_to_others(tmp_path):
    """It is made with access for its owner only."""
    State.take(tmp_path / "state").leave()
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_the_sign_of_being_ready_is_this_lifes(tmp_path):
    """A sign that a killed rack left is taken away at the start; leaving takes the own one away."""
    (tmp_path / "ready").write_text("1\n")
    state = State.take(tmp_path)
    assert not (tmp_path / "ready").exists()
    state.show_ready()
    assert (tmp_path / "ready").read_text() == f"{os.getpid()}\n"
    state.leave()
    assert not (tmp_path / "ready").exists()
