"""A client's connection to the forward proxy: requests in, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.interfaces import IHalfCloseableProtocol, ISSLTransport
from twisted.internet.protocol import Protocol, connectionDone
from twisted.logger import Logger
from zope.interface import implementer

from trafficmock.http.http_limits import LINGER_SECONDS
from trafficmock.proxy.downstream.connection_state import State, step
from trafficmock.proxy.downstream.half_close import HalfCloseWatch
from trafficmock.proxy.downstream.idle_timer import IdleTimer
from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.proxy.http1.request_reader import RequestReader
from trafficmock.proxy.upstream.upstream_connection import widen
from trafficmock.proxy.upstream_errors import error_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.interfaces import IPushProducer
    from twisted.python.failure import Failure

    from trafficmock.proxy.downstream.connection_readers import RequestRouter, UpgradedProtocol
    from trafficmock.proxy.proxy_clients import ProxyClient
    from trafficmock.proxy.proxy_settings import ProxyContext
    from trafficmock.proxy.transfer.proxied_request import ProxiedRequest

MOST_AHEAD = 64 * 1024
"""Bytes of later requests that are read while one is answered."""

_BODY, _AHEAD = 1, 2
"""Why a connection is not read, as bits: the body is held back, or too much came ahead."""


@implementer(IHalfCloseableProtocol)
class ClientConnection(Protocol):
    """Speaks HTTP/1.1 to an application; :class:`.ClientTransport` is what a request sees of it.

    :param context: what all connections of the proxy have in common.
    :param router: sends each request on.
    :param ended: called when the connection is lost.
    """

    log = Logger()
    transport: Any

    def __init__(
        self, context: ProxyContext, router: RequestRouter, ended: Callable[[], None]
    ) -> None:
        self.context = context
        self.secure = False
        self._router = router
        self._ended = ended
        self._state = State.AWAITING_HEAD
        self._input = RequestReader(context.settings.max_header_bytes)
        self._request: ProxiedRequest | None = None
        self._successor: UpgradedProtocol | None = None
        self._proxy_client: ProxyClient | None = None
        self._advancing = False
        self._unread_for = 0
        self._idle = IdleTimer(context.reactor, context.settings.idle_seconds, self._too_quiet)
        self._half_close = HalfCloseWatch(context.reactor, self._abort)

    # Twisted's side

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Wait for the first request."""
        self.transport.setTcpNoDelay(True)
        self._idle.start()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read from the client, unless it was told that the connection ends."""
        if self._successor is not None:
            self._successor.data_received(data)
        elif self._state is not State.CLOSING:
            self._idle.heard = True
            self._input.received(data)
            self._advance()

    def readConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Answer what was asked before the client closed its direction."""
        if self._successor is not None:
            self._successor.half_closed()
        elif self._state is State.READING_BODY:
            self.transport.abortConnection()
        elif self._state is State.ANSWERING:
            self._enter(State.HALF_CLOSED)
            self._half_close.start()
        else:
            self.transport.loseConnection()

    def writeConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Go on waiting for the end: it was caused here."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """Cancel the request or WebSocket that is being served."""
        self._router.lost(reason.value)
        self.gone()
        self._ended()

    def gone(self) -> None:
        """Let go of everything: the connection is lost, or another service's now."""
        self._enter(State.LOST)
        self._idle.stop()
        self._half_close.stop()
        request, self._request = self._request, None
        if request is not None:
            request.client_gone()
        successor, self._successor = self._successor, None
        if successor is not None:
            successor.lost()
        if self._proxy_client is not None:
            self.context.proxy_clients.leave(self._proxy_client)

    # Reading

    def _advance(self) -> None:
        """Process the received bytes as far as the state allows."""
        if self._advancing:
            return
        self._advancing = True
        try:
            while self._step():
                pass
        except BadMessageError as error:
            self._refuse(error)
        except Exception:  # noqa: BLE001 - one client's trouble is not the others'
            self.log.failure("a connection of the forward proxy failed")
            self.transport.abortConnection()
        finally:
            self._advancing = False

    def _step(self) -> bool:
        """Take one step of the state table.

        :returns: whether there may be one more.
        """
        state = self._state
        if state is State.AWAITING_HEAD:
            return self._next_request()
        if state is State.READING_BODY:
            return self._next_piece()
        if state is State.ANSWERING:
            self._pause(_AHEAD, on=len(self._input.unread) > MOST_AHEAD)
        return False

    def _next_request(self) -> bool:
        self._pause(_AHEAD, on=False)
        found = self._input.head()
        if found is None:
            return False
        self._idle.stop()
        self._router.enter(self, *found)
        # Behind CONNECT another request may have come along with it.
        return self._state is not State.AWAITING_HEAD or bool(self._input.unread)

    def _next_piece(self) -> bool:
        request = self._request
        content = self._input.body()
        if request is None:
            return False
        if content:
            request.request_data(content)
        if self._input.body_complete and self._request is request:
            self._enter(State.ANSWERING)
            request.request_end()
            return True
        return False

    def belongs_to(self, proxy_client: ProxyClient) -> None:
        """Count as a connection of a proxy client until the connection is lost."""
        before, self._proxy_client = self._proxy_client, proxy_client
        if before is not None:
            self.context.proxy_clients.leave(before)

    def begin(self, request: ProxiedRequest) -> None:
        """Start a request; a body that is here already goes with it."""
        self._request = request
        if request.request_done:
            self._enter(State.ANSWERING)
            request.announce(b"")
            return
        self._enter(State.READING_BODY)
        self._idle.start()
        content = self._input.begin_body(request.body)
        if self._input.body_complete:
            self._enter(State.ANSWERING)
            request.announce(content)
            return
        if content:
            request.request_data(content)
        request.announce(None)

    # Other readers

    def succeed(self, successor: UpgradedProtocol) -> None:
        """Let another protocol read from now on; what was read already comes first."""
        self._enter(State.UPGRADED)
        self._successor = successor
        self._idle.stop()
        unread = self._input.take()
        if unread:
            successor.data_received(unread)

    def go_on(self, data: bytes, router: RequestRouter, *, context: Any = None) -> None:
        """Read on behind CONNECT.

        :param data: what was read there already.
        :param router: for the requests there.
        :param context: of the server's side of TLS, where TLS comes first.
        """
        self._enter(State.AWAITING_HEAD)
        self._successor = None
        self._router = router
        self._idle.start()
        if context is None:
            self.dataReceived(data)
        else:
            self.secure = True
            self.transport.startTLS(context, True)  # noqa: FBT003 - Twisted's
            self.transport.protocol.dataReceived(data)

    # What a request asks for: the ClientTransport

    def local(self) -> Any:
        """Give the local address that the client came to."""
        return self.transport.getHost()

    def write(self, data: bytes) -> None:
        """Send to the client."""
        self._half_close.written = True
        self.transport.write(data)

    def hold_body(self, *, hold: bool) -> None:
        """Pause or resume reading the request's body."""
        self._pause(_BODY, on=hold)

    def consume(self, producer: IPushProducer | None) -> None:
        """Hold ``producer`` back while the client does not take more; ``None`` at its end."""
        if self._state is State.LOST:
            return
        if producer is None:
            self.transport.unregisterProducer()
        else:
            widen(self.transport)
            self.transport.registerProducer(producer, True)  # noqa: FBT003 - Twisted's

    def finished(self, *, close: bool) -> None:
        """Go on with the next request, or close the connection when all is sent."""
        request, self._request = self._request, None
        self._half_close.stop()
        self._pause(_BODY, on=False)
        if self._state is State.LOST or request is None:
            return
        if close or self._state is not State.ANSWERING:
            self._close(unread=self._state is State.READING_BODY or bool(self._input.unread))
            return
        self._enter(State.AWAITING_HEAD)
        self._idle.start()
        if self._input.unread:
            self._advance()

    def reset(self) -> None:
        """Cut the connection, so that the client sees an error of the network."""
        self._request = None
        self._enter(State.CLOSING)
        self.transport.abortConnection()

    # Ends

    def _enter(self, state: State) -> None:
        self._state = step(self._state, state)

    def _abort(self) -> None:
        self.transport.abortConnection()

    def _refuse(self, error: BadMessageError) -> None:
        """Answer 400 and close; a body that breaks the rules also ends its request."""
        request, self._request = self._request, None
        begun = request is not None and request.begun
        if request is not None:
            request.client_gone(error.text)
        if begun:
            self._enter(State.CLOSING)
            self.transport.abortConnection()
            return
        self.transport.write(
            error_response(error.status, error.code, error.text, headers=error.headers)
        )
        self._close(unread=True)

    def _close(self, *, unread: bool) -> None:
        self._enter(State.CLOSING)
        self._input.take()
        self._unread_for = 0
        self._idle.stop()
        # TLS has no end of one direction alone.
        if not unread or self.secure or ISSLTransport.providedBy(self.transport):
            self.transport.loseConnection()
            return
        self.transport.resumeProducing()
        self.transport.loseWriteConnection()
        self._idle = IdleTimer(self.context.reactor, LINGER_SECONDS, self._abort)
        self._idle.start()

    def _pause(self, why: int, *, on: bool) -> None:
        before = self._unread_for
        self._unread_for = before | why if on else before & ~why
        if self._state is State.LOST or bool(before) == bool(self._unread_for):
            return
        if self._unread_for:
            self.transport.pauseProducing()
        else:
            self.transport.resumeProducing()

    def _too_quiet(self) -> None:
        """Act on the end of the time for a head, for a piece of a body, or for a request at all."""
        if self._state is State.READING_BODY:
            # It went on in the meantime, or could not because it is not read.
            if self._idle.heard or self._unread_for:
                self._idle.start()
            else:
                self._too_late()
        elif self._state is State.AWAITING_HEAD and self._input.unread:
            self._too_late()
        elif self._state is State.AWAITING_HEAD:
            self._enter(State.CLOSING)
            self.transport.loseConnection()

    def _too_late(self) -> None:
        text = "The request did not come in time."
        self._refuse(BadMessageError(text, status=408, code="request_timeout"))
