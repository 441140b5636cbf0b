"""Everything at once: clients, regions and racks on the same nodes, and nothing stays open."""

import random
import threading
from collections.abc import Callable

from regiond.record import dispatching, releasing
from switchgear.life import PASSING, Status, Verb
from switchgear.power import Power
from tests.integration.regiond.record.world import NO_ANSWER, World

ROUNDS = 12


def ask(world: World, chance: random.Random, names: list[str]) -> None:
    """Ask for any verb on half of the nodes, in any order."""
    some = chance.sample(names, len(names) // 2)
    world.ask(chance.choice(list(Verb)), ",".join(some))


def work(world: World, chance: random.Random, _: list[str]) -> None:
    """Take orders as a region, and do, fail or lose them as a rack; a result may overtake `sent`."""
    for parcel in world.do(dispatching.claim, f"run-{chance.random()}", [("rack-a", "i1")], 10):
        fate = chance.choice(["done", "failed", "early", "unsent"])
        if fate == "unsent":
            world.do(dispatching.unsent, parcel)
            continue
        if fate != "early":
            world.do(dispatching.sent, parcel, 0)
        sightings = [world.sighting(order.node, Power.OFF) for order in parcel.orders]
        fault = NO_ANSWER if fate == "failed" else None
        results = [world.result(order, fault) for order in parcel.orders]
        world.do(releasing.finish, world.report(*sightings, *results))
        world.do(dispatching.sent, parcel, 0)


def clean_up(world: World, _: random.Random, __: list[str]) -> None:
    """Do what a region does every 2 s."""
    world.do(releasing.finish, world.do(releasing.unfinished))
    world.do(dispatching.expire)


def test_nothing_deadlocks_and_nothing_stays_open(world: World) -> None:
    """However requests, dispatches and reports meet, each operation and item gets its one outcome."""
    names = world.enrol(12, status=Status.DEPLOYED)
    world.rack()
    failures: list[Exception] = []
    jobs = [ask, ask, work, work, clean_up]
    threads = [
        threading.Thread(target=_rounds, args=(world.dsn, job, seed, names, failures))
        for seed, job in enumerate(jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    world.sql("UPDATE operation SET claim_until = '-infinity' WHERE claim IS NOT NULL")
    world.reads = 1_000_000
    world.obey(world.dispatch())
    clean_up(world, random.Random(), names)
    assert world.sql("SELECT number FROM operation WHERE state <> 'ended'") == []
    assert world.sql("SELECT node FROM item WHERE outcome IS NULL") == []
    assert not {world.node(name).status for name in names} & PASSING


def _rounds(
    dsn: str,
    job: Callable[[World, random.Random, list[str]], None],
    seed: int,
    names: list[str],
    failures: list[Exception],
) -> None:
    world, chance = World(dsn), random.Random(seed)
    try:
        for _ in range(ROUNDS):
            job(world, chance, names)
    except Exception as error:  # noqa: BLE001 - shown by the assertion of the test
        failures.append(error)
    finally:
        world.close()
