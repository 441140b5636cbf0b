"""Becoming the reactor's thread pool, and giving the place back."""

from collections.abc import Callable
from typing import Any

from twisted.internet._resolver import GAIResolver
from twisted.internet.interfaces import IReactorPluggableNameResolver


def install(reactor: Any, pool: object, dns_pool: object) -> Callable[[], None]:
    """Make `pool` what `reactor.getThreadPool()` returns, and resolve names in `dns_pool`.

    Returns a function that puts back what was. A reactor that has no thread pool, or does not
    resolve names by a plug-in, keeps that part as it is.
    """
    undo: list[Callable[[], object]] = []
    if hasattr(reactor, "getThreadPool"):
        # An attribute of the instance hides the class' method, so taking it away restores it.
        reactor.getThreadPool = lambda: pool
        undo.append(lambda: vars(reactor).pop("getThreadPool", None))
    if IReactorPluggableNameResolver.providedBy(reactor):
        resolver = GAIResolver(reactor, lambda: dns_pool)  # type: ignore[arg-type,return-value]
        before = reactor.installNameResolver(resolver)
        undo.append(lambda: reactor.installNameResolver(before))

    def put_back() -> None:
        while undo:
            undo.pop()()

    return put_back
