"""One command's conversation with the region: a reactor for as long as it takes, and its exit code."""

import signal
from collections.abc import Awaitable, Callable
from typing import Any

from attrs import define
from twisted.internet.defer import CancelledError, Deferred

from switchgear.client import Client
from switchgear.errors import SwitchgearError
from switchgear_cli.exits import Exit, exit_of
from switchgear_cli.output import Output

#: Seconds that a command tries while the region is away, once it was linked.
PATIENCE = 60.0


@define
class Session:
    """What a command works with. `note`: printed when the user interrupts (an id to follow)."""

    region: str
    name: str
    out: Output
    note: str = ""
    code: Exit = Exit.OK

    def run(self, act: Callable[[Client], Awaitable[Exit]]) -> int:
        """Connect, act, close; return the exit code. Errors are told on standard error."""
        from twisted.internet import reactor as installed

        reactor: Any = installed
        doing = Deferred.fromCoroutine(self._whole(reactor, act))
        # By hand, so that Ctrl-C ends the wait and still tells the id of what goes on.
        reactor.callWhenRunning(
            signal.signal, signal.SIGINT, lambda *_: self._interrupt(reactor, doing)
        )
        doing.addErrback(self._failed)
        doing.addBoth(lambda _: reactor.callLater(0, reactor.stop))
        reactor.run(installSignalHandlers=True)
        return int(self.code)

    async def _whole(self, reactor: Any, act: Callable[[Client], Awaitable[Exit]]) -> None:
        client = await Client.connect(reactor, self.region, name=self.name, patience=PATIENCE)
        try:
            self.code = await act(client)
        finally:
            await client.close()

    def _interrupt(self, reactor: Any, doing: "Deferred[None]") -> None:
        self.code = Exit.INTERRUPTED
        reactor.callFromThread(doing.cancel)

    def _failed(self, failure: Any) -> None:
        if self.code is Exit.INTERRUPTED and failure.check(CancelledError):
            self.out.problem(f"interrupted{'; ' + self.note if self.note else ''}")
        elif isinstance(failure.value, SwitchgearError):
            self.code = exit_of(failure.value)
            self.out.failed(failure.value)
        else:
            self.code = Exit.SOME_FAILED
            self.out.problem(f"a defect of this command: {failure.value!r}")
