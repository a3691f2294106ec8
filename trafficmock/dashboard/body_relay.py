"""Streams the body of a response from the proxy to a page, without buffering it whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer
from twisted.internet.protocol import Protocol, connectionDone
from twisted.web.client import ResponseDone
from zope.interface import implementer

from trafficmock.http.service_request import ServiceRequest

if TYPE_CHECKING:
    from twisted.internet.interfaces import IDelayedCall, IReactorTime
    from twisted.python.failure import Failure

STALL_SECONDS = 30.0
"""How long the proxy may be silent within a response; then the connection is closed."""


@implementer(IPushProducer)
class BodyRelay(Protocol):
    """Receives a body from the proxy and writes it to a page, with the page's backpressure.

    :param request: the page's request; the head of its response is set already.
    :param clock: for the time limit.
    """

    def __init__(self, request: ServiceRequest, clock: IReactorTime) -> None:
        self._request = request
        self._clock = clock
        self._timer: IDelayedCall | None = None
        self.done: Deferred[None] = Deferred(lambda _: self.stopProducing())
        """Fires at the end of the body; fails if the body is incomplete. Cancelling it stops."""

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Register as the producer of the page's response."""
        self._request.registerProducer(self, True)  # noqa: FBT003 - Twisted's signature
        self._wait()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Write a part to the page, and restart the time limit."""
        if self._timer is not None:
            self._wait()
        self._request.write(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """End the response, or fail if the body is incomplete."""
        self._stop_waiting()
        if self.done.called:
            return
        self._request.unregisterProducer()
        if reason.check(ResponseDone):
            self._request.finish()
            self.done.callback(None)
        else:
            self.done.errback(reason)

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Pause reading from the proxy, and its time limit."""
        self._stop_waiting()
        self._source.pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Resume reading from the proxy, and its time limit."""
        self._wait()
        self._source.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Close the connection to the proxy, because the page is gone."""
        self._stop_waiting()
        self._source.loseConnection()

    @property
    def _source(self) -> Any:
        return self.transport

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self._clock.callLater(STALL_SECONDS, self._stalled)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stalled(self) -> None:
        self._timer = None
        self._source.loseConnection()
