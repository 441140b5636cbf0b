"""Everything on one machine: PostgreSQL, a region, a rack, and simulated chassis, as real processes.

Used by `switchgear up`, by the demo and by the acceptance tests.
"""

import json
import os
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import define, evolve, field, frozen

from switchgear_cli.up.errors import CantStart
from switchgear_cli.up.folder import StateFolder
from switchgear_cli.up.ports import HOST, answers, check_free, free_port
from switchgear_cli.up.postgres import EmbeddedPostgres
from switchgear_cli.up.service import Service


@frozen(kw_only=True)
class ChassisPlan:
    """A simulated chassis: its ports, and its options on the command line of the simulator."""

    name: str
    port: int
    audit_port: int
    options: Sequence[str] = ()

    @property
    def url(self) -> str:
        """Return the base of its REST API."""
        return f"http://{HOST}:{self.port}/v2.0"


@frozen(kw_only=True)
class StackPlan:
    """What is to run, and where. `dsn`: an existing PostgreSQL instead of the embedded one.

    `pythonpath`: where the daemons' code comes from, if not from where this code does.
    """

    web_port: int = 5240
    client_port: int = 5241
    rack_port: int = 5242
    chassis: Sequence[ChassisPlan] = ()
    dsn: str | None = None
    base: int = 10
    ceiling: int = 40
    leases: int | None = None
    pythonpath: str | None = None

    def check_ports(self) -> None:
        """Raise CantStart for the first port that is taken."""
        check_free(self.web_port, "the web page", "--web-port")
        check_free(self.client_port, "clients", "--client-port")
        check_free(self.rack_port, "racks", "--rack-port")
        for chassis in self.chassis:
            check_free(chassis.port, f"the simulated chassis {chassis.name}", "--sim-port-base")
            check_free(chassis.audit_port, f"the side door of {chassis.name}", "--sim-port-base")


def simulated(
    count: int, options: Callable[[int], Sequence[str]], base: int = 0
) -> list[ChassisPlan]:
    """Plan chassis ``sm-1`` and up, on free ports, or from port `base` on."""
    return [
        ChassisPlan(
            name=f"sm-{number}",
            port=base + 2 * number - 2 if base else free_port(),
            audit_port=base + 2 * number - 1 if base else free_port(),
            options=options(number),
        )
        for number in range(1, count + 1)
    ]


@define
class Stack:
    """The running processes. `start` starts all in order or none; `stop` ends all."""

    folder: StateFolder
    plan: StackPlan
    tell: Callable[[str], None] = lambda _: None
    postgres: EmbeddedPostgres | None = None
    services: dict[str, Service] = field(factory=dict)
    dsn: str = field(default="", repr=False)

    def start(self) -> None:
        """End what an earlier run left, then start everything. Raises CantStart."""
        self.services = self._services()
        for service in self.services.values():
            if service.end_leftover():
                self.tell(f"ended a {service.name} that an earlier run left")
        self.plan.check_ports()
        try:
            self.dsn = self.plan.dsn or self._start_postgres()
            self._write_configs()
            for service in self.services.values():
                service.start()
            for service in self.services.values():
                service.await_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End everything, the last started first: the rack drains while its region still listens."""
        order = [*self.services]
        for name in reversed(order):
            self.services[name].end()
        if self.postgres is not None:
            self.postgres.stop()

    def restart(self, name: str) -> None:
        """Start a process again that died or was killed, and wait until it works."""
        self.services[name].start()
        self.services[name].await_ready()

    def resize(self, base: int, ceiling: int) -> None:
        """Start the region again with another size of its pool."""
        self.plan = evolve(self.plan, base=base, ceiling=ceiling)
        self._write_configs()
        self.services["regiond"].end()
        self.restart("regiond")

    def password(self) -> str:
        """Return the password of the simulated chassis."""
        return (self.folder.path / "chassis.password").read_text().strip()

    # ------------------------------------------------------------------ parts

    def _start_postgres(self) -> str:
        self.postgres = EmbeddedPostgres(self.folder.path, tell=self.tell)
        return self.postgres.start()

    def _services(self) -> dict[str, Service]:
        parts = [self._chassis(chassis) for chassis in self.plan.chassis]
        ready = self.folder.path / "rackd" / "ready"
        region = self._daemon("regiond", lambda: answers(self.plan.web_port))
        rack = self._daemon("rackd", lambda: rack.process is not None and _names(ready, rack.pid))
        return {part.name: part for part in [*parts, region, rack]}

    def _daemon(self, name: str, is_ready: Callable[[], bool]) -> Service:
        config = str(self.folder.path / f"{name}.json")
        return self._service(name, ["-m", f"{name}.main", "--config", config], is_ready)

    def _chassis(self, plan: ChassisPlan) -> Service:
        password = self.folder.path / "chassis.password"
        if not password.exists():
            _write(password, secrets.token_urlsafe(12) + "\n")
        argv = ["-m", "switchgear_sim", "sm15k", "--port", str(plan.port)]
        argv += ["--audit-port", str(plan.audit_port), "--password-file", str(password)]
        argv += ["--state", str(self.folder.sub("chassis") / f"{plan.name}.json"), *plan.options]
        return self._service(plan.name, argv, lambda: answers(plan.audit_port))

    def _service(self, name: str, argv: Sequence[str], is_ready: Callable[[], bool]) -> Service:
        return Service(
            name=name,
            argv=[sys.executable, *argv],
            is_ready=is_ready,
            pidfile=self.folder.sub("pids") / f"{name}.pid",
            log=self.folder.sub("log") / f"{name}.out",
            env=self.environment(),
        )

    def environment(self) -> Mapping[str, str]:
        """Return our environment, with our code (or the plan's) on the path and no password in it."""
        env = {k: v for k, v in os.environ.items() if k not in ("SWITCHGEAR_DSN", "PGPASSWORD")}
        own = str(Path(__file__).resolve().parents[2])
        env["PYTHONPATH"] = self.plan.pythonpath or own
        env["PYTHONUNBUFFERED"] = "1"
        return env

    def _write_configs(self) -> None:
        path, plan = self.folder.path, self.plan
        size = {"base": plan.base, "ceiling": plan.ceiling}
        region = {
            "dsn": self.dsn,
            "key_file": "secret.key",
            "web": {"host": HOST, "port": plan.web_port},
            "clients": {"host": HOST, "port": plan.client_port},
            "racks": {"host": HOST, "port": plan.rack_port},
            "pool": {**size, "leases": plan.leases},
            "log": "log/regiond.log",
        }
        rack = {
            "name": "rack-1",
            "state": "rackd",
            "regions": [{"host": HOST, "port": plan.rack_port}],
            "pool": {"base": 4, "ceiling": max(4, plan.ceiling)},
            "log": "log/rackd.log",
        }
        _write(path / "regiond.json", json.dumps(region, indent=1))
        _write(path / "rackd.json", json.dumps(rack, indent=1))


def _names(path: Path, pid: int) -> bool:
    """Tell whether a file says that this process is ready."""
    try:
        return path.read_text().split()[0] == str(pid)
    except (OSError, IndexError):
        return False


def _write(path: Path, text: str) -> None:
    """Write a file that only we can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as out:
            out.write(text)
    except OSError as error:
        raise CantStart(f"{path} can't be written: {error.strerror}") from None
