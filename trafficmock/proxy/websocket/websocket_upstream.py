"""A connection to the server of a WebSocket: reads the response to the handshake, then bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from twisted.internet import error as network
from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IDelayedCall, IHandshakeListener
from twisted.internet.protocol import Protocol as TwistedProtocol
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from trafficmock.proxy.http1.forwarded_headers import request_block
from trafficmock.proxy.http1.framing import NONE
from trafficmock.proxy.http1.heads import (
    BadMessageError,
    Pairs,
    ResponseHead,
    parse_response,
    response_end,
)
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.request_target import Origin, Target
from trafficmock.proxy.upstream_errors import answer_timeout


class WebSocketUpstreamListener(Protocol):
    """Receives the handshake and the bytes of a WebSocket's server."""

    def server_opened(self, server: WebSocketUpstream) -> None:
        """Send the handshake."""

    def server_answered(self, server: WebSocketUpstream, head: ResponseHead) -> None:
        """Handle the response to the handshake, of any status."""

    def server_data(self, data: bytes) -> None:
        """Handle bytes behind the response to the handshake."""

    def server_lost(self, error: BaseException | None) -> None:
        """Handle the loss of the connection, or the failure to open it."""


@implementer(IHandshakeListener)
class WebSocketUpstream(TwistedProtocol):
    """The protocol of the connection to the server.

    :param check: verifies the certificate's name by the transport, and raises an exception if it
        does not match; ``None`` without TLS.
    """

    transport: Any

    def __init__(
        self,
        reader: WebSocketUpstreamListener,
        resources: ProxyResources,
        check: Callable[[Any], None] | None,
    ) -> None:
        self._reader = reader
        self._resources = resources
        self._check = check
        self._timer: IDelayedCall | None = None
        self._buffer = b""
        self._answered = False
        self._error: BaseException | None = None

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Disable Nagle's algorithm, and limit the time of the TLS handshake."""
        self.transport.setTcpNoDelay(True)
        if self._check is not None:
            self._wait(self._resources.dialer.connect_seconds, network.TimeoutError())

    def handshakeCompleted(self) -> None:  # noqa: N802 - Twisted's name
        """Check the certificate's name, then report the open connection."""
        self._stop_waiting()
        if self._check is not None:
            try:
                self._check(self.transport)
            except Exception as error:  # noqa: BLE001 - whatever it is, this server is not trusted
                self._fail(error)
                return
        self._reader.server_opened(self)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read the response to the handshake, then pass bytes to the listener."""
        if self._answered:
            self._reader.server_data(data)
            return
        self._buffer += data
        limit = self._resources.settings.max_header_bytes
        end, behind = response_end(self._buffer, limit)
        if end < 0:
            if len(self._buffer) > limit:
                self._fail(BadMessageError("the head of its answer is over --max-header-bytes"))
            return
        try:
            head = parse_response(self._buffer[:end])
        except BadMessageError as error:
            self._fail(error)
            return
        rest, self._buffer = self._buffer[behind:], b""
        self._answered = True
        self._stop_waiting()
        self._reader.server_answered(self, head)
        if rest:
            self._reader.server_data(rest)

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        self._stop_waiting()
        self._reader.server_lost(self._error or reason.value or network.ConnectionLost())

    def send_handshake(self, target: Target, pairs: Pairs) -> None:
        """Send the opening handshake; its response is awaited for ``--upstream-timeout-ms``.

        :param pairs: the header of the request, without ``Host``.
        """
        host = target.origin.authority.encode("ascii")
        pairs = self._resources.outgoing(target.origin, pairs)
        self.transport.write(request_block(b"GET", target.path, host, pairs, NONE))
        self._wait(self._resources.settings.response_seconds, answer_timeout(target.origin))

    def _wait(self, seconds: float, error: Exception) -> None:
        """Fail with ``error`` unless :meth:`_stop_waiting` is called in time; 0 for no limit."""
        if seconds:
            self._timer = self._resources.reactor.callLater(seconds, self._time_out, error)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self, error: Exception) -> None:
        self._timer = None
        self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self.transport.abortConnection()


def dial(
    listener: WebSocketUpstreamListener, resources: ProxyResources, origin: Origin, reached_at: Any
) -> Deferred[Any]:
    """Connect with the server of a WebSocket; ``listener`` is called when it is open or failed.

    :param reached_at: the local address to which the client connected.
    :returns: a Deferred whose cancelling aborts the attempt.
    """
    dialer = resources.dialer
    tls = origin.scheme == "https"
    check = partial(dialer.trust.check_name, origin=origin) if tls else None

    def reached(server: WebSocketUpstream) -> None:
        if not tls:
            listener.server_opened(server)

    try:
        endpoint = dialer.websocket_endpoint(origin)
    except ValueError as error:
        connecting: Deferred[Any] = fail(error)
    else:
        build = partial(WebSocketUpstream, listener, resources, check)
        connecting = dialer.connect(endpoint, build, origin, reached_at)
    return connecting.addCallbacks(reached, lambda failure: listener.server_lost(failure.value))
