"""The physical truth of simulated servers."""

from switchgear_sim.sm15k.model import Model


def test_a_command_takes_effect_when_it_is_due() -> None:
    """A server stays on until the effect time has passed."""
    model = Model.of(2, active=True)
    model.command("0/0", False, 10.0, 2.0, clean=True)
    model.advance(11.9)
    assert model.servers["0/0"].active
    model.advance(12.0)
    assert not model.servers["0/0"].active
    assert model.servers["1/0"].active
    assert [(t.slot, t.active, t.at) for t in model.transitions] == [("0/0", False, 12.0)]


def test_a_second_command_does_not_restart_the_effect() -> None:
    """The first accepted command decides when."""
    model = Model.of(1, active=True)
    model.command("0/0", False, 10.0, 2.0, clean=False)
    model.command("0/0", False, 11.0, 5.0, clean=True)
    model.advance(12.0)
    assert not model.servers["0/0"].active


def test_the_opposite_command_replaces_the_effect() -> None:
    """Off and then on, before off took effect: the server stays on."""
    model = Model.of(1, active=True)
    model.command("0/0", False, 10.0, 2.0, clean=True)
    model.command("0/0", True, 11.0, 2.0, clean=True)
    model.advance(20.0)
    assert model.servers["0/0"].active
    assert not model.transitions


def test_a_stuck_server_stays() -> None:
    """A server that never goes off takes the command and stays on."""
    model = Model.of(1, active=True)
    model.command("0/0", False, 10.0, None, clean=True)
    model.advance(1e6)
    assert model.servers["0/0"].active


def test_a_hand_on_the_button() -> None:
    """Power changes behind everybody's back are transitions too."""
    model = Model.of(1, active=True)
    model.force("0/0", False, 5.0)
    model.force("0/0", False, 6.0)
    assert len(model.transitions) == 1
