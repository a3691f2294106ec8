"""Tries the addresses of a host in turn, the next one as soon as one failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.interfaces import (
    IConnector,
    IDelayedCall,
    IHostnameResolver,
    IReactorPluggableNameResolver,
)
from twisted.python.failure import Failure
from zope.interface import implementer


@implementer(IReactorPluggableNameResolver)
class ConnectAttempts:
    """Wraps the reactor for one connection by Twisted's ``HostnameEndpoint``.

    The endpoint begins an attempt every 0.3 seconds, and notices only then that there is no
    further address, so a refused connection would be reported 0.3 seconds late. Here a failed
    attempt brings the next one forward, as RFC 8305 section 5 allows.

    :param reactor: the reactor, which does all the rest.
    """

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._next: IDelayedCall | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    @property
    def nameResolver(self) -> IHostnameResolver:  # noqa: N802 - Twisted's name
        resolver: IHostnameResolver = self._reactor.nameResolver
        return resolver

    def installNameResolver(self, resolver: IHostnameResolver) -> IHostnameResolver:  # noqa: N802 - Twisted's name
        """Install a name resolver in the reactor."""
        before: IHostnameResolver = self._reactor.installNameResolver(resolver)
        return before

    def callLater(  # noqa: N802 - Twisted's name
        self, delay: float, call: Callable[..., object], *args: object, **more: object
    ) -> IDelayedCall:
        """Schedule a call, and remember it: the endpoint schedules its next attempt only."""
        planned: IDelayedCall = self._reactor.callLater(delay, call, *args, **more)
        self._next = planned
        return planned

    def connectTCP(self, host: str, port: int, factory: Any, *args: Any, **more: Any) -> IConnector:  # noqa: N802 - Twisted's name
        attempt = _Attempt(factory, self._go_on)
        connector: IConnector = self._reactor.connectTCP(host, port, attempt, *args, **more)
        return connector

    def _go_on(self) -> None:
        if self._next is not None and self._next.active():
            self._next.reset(0)


class _Attempt:
    """A protocol factory that also calls back when its connection attempt failed."""

    def __init__(self, factory: Any, failed: Callable[[], None]) -> None:
        self._factory = factory
        self._failed = failed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._factory, name)

    def clientConnectionFailed(self, connector: IConnector, reason: Failure) -> None:  # noqa: N802 - Twisted's name
        """Report the failure to the endpoint, then begin the next attempt."""
        self._factory.clientConnectionFailed(connector, reason)
        self._failed()
