from rackd.leases import LOOK_EVERY, Lease, Leases


def granted(leases, asked_at, epoch, seconds=30.0):
    """Grant the chassis c1."""
    return leases.granted(asked_at=asked_at, chassis="c1", epoch=epoch, seconds=seconds)


def test_a_lease_counts_from_when_it_was_asked_for():
    """It is held until then, by its own epoch only."""
    leases = Leases()
    assert granted(leases, 100.0, 3) == Lease(3, 130.0)
    assert leases.holds(129.9, "c1", 3)
    assert not leases.holds(130.0, "c1", 3)
    assert not leases.holds(101.0, "c1", 2)
    assert not leases.holds(101.0, "c1", 4)
    assert not leases.holds(101.0, "c2", 3)


def test_a_late_answer_never_shortens_a_lease():
    """Answers of two regions may arrive in any order."""
    leases = Leases()
    granted(leases, 100.0, 3)
    assert granted(leases, 95.0, 3) == Lease(3, 130.0)
    assert granted(leases, 110.0, 3) == Lease(3, 140.0)


def test_an_older_epoch_is_not_taken():
    """What a region said before a newer grant means nothing any more."""
    leases = Leases()
    granted(leases, 100.0, 4)
    assert granted(leases, 101.0, 3) is None
    assert leases.holds(102.0, "c1", 4)


def test_a_lease_that_is_not_renewed_ends_once():
    """Its chassis is named once, when its time has passed; a new epoch begins it anew."""
    leases = Leases()
    granted(leases, 100.0, 3)
    assert leases.lapsed(129.0) == []
    assert leases.lapsed(131.0) == ["c1"]
    assert leases.lapsed(132.0) == []
    assert granted(leases, 140.0, 5) == Lease(5, 170.0)


def test_a_new_generation_starts_its_epochs_anew():
    """A restored record may give smaller epochs; a region that is behind is not listened to."""
    leases = Leases()
    assert leases.enter(1)
    granted(leases, 100.0, 40)
    assert leases.enter(2)
    assert not leases.holds(101.0, "c1", 40)
    assert granted(leases, 101.0, 1) == Lease(1, 131.0)
    assert not leases.enter(1)


def test_leases_are_renewed_at_a_third_of_the_shortest():
    """And a rack looks for free chassis so often in any case."""
    leases = Leases()
    assert leases.renew_in() == LOOK_EVERY
    granted(leases, 0.0, 1, seconds=3.0)
    assert leases.renew_in() == 1.0
