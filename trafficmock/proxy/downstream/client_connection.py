"""A client's connection to the forward proxy: reads requests and answers one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import Protocol as TypingProtocol

from twisted.internet.interfaces import IHalfCloseableProtocol, IPushProducer, ISSLTransport
from twisted.internet.protocol import Protocol, connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from trafficmock.http.http_limits import LINGER_SECONDS
from trafficmock.proxy.downstream.connection_state import State
from trafficmock.proxy.downstream.half_close import HalfCloseWatch
from trafficmock.proxy.downstream.idle_timer import IdleTimer
from trafficmock.proxy.http1.heads import BadMessageError, RequestHead
from trafficmock.proxy.http1.request_reader import RequestReader
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.transfer.proxied_request import ProxiedRequest
from trafficmock.proxy.upstream.tied_upstream import TiedUpstream, Upstreams
from trafficmock.proxy.upstream.upstream_connection import widen
from trafficmock.proxy.upstream_errors import error_response

MOST_AHEAD = 64 * 1024
"""Bytes of pipelined requests that are buffered while one is answered; then reading pauses."""

_BODY, _AHEAD = 1, 2
"""Bits of the reasons to pause reading: a held body, or too many pipelined bytes."""


class UpgradedProtocol(TypingProtocol):
    """Reads a client's connection after an upgrade or CONNECT."""

    def data_received(self, data: bytes) -> None:
        """Handle received bytes."""

    def half_closed(self) -> None:
        """Handle the client's FIN."""

    def lost(self) -> None:
        """Handle the loss of the client's connection."""


class RequestRouter(TypingProtocol):
    """Finds the destination of each request of a connection."""

    def enter(self, connection: ClientConnection, head: RequestHead, raw: bytes) -> None:
        """Send a request to a server, into a tunnel, or to this service.

        :param raw: the bytes of the head, and all bytes received behind it.
        :raises BadMessageError: if the request cannot be sent; it is answered with the error.
        """

    def lost(self, reason: BaseException | None) -> None:
        """Handle the loss of the connection."""


@implementer(IHalfCloseableProtocol)
class ClientConnection(Protocol):
    """Speaks HTTP/1.1 with a client; requests use it as their :class:`.ClientTransport`.

    :param resources: the objects that all connections of the proxy share.
    :param router: sends each request to its destination.
    :param ended: called when the connection is lost.
    """

    log = Logger()
    transport: Any

    def __init__(
        self, resources: ProxyResources, router: RequestRouter, ended: Callable[[], None]
    ) -> None:
        self.resources = resources
        self.secure = False
        self.upstreams: Upstreams = resources.pool
        self._tied: TiedUpstream | None = None
        self._router = router
        self._ended = ended
        self._state = State.AWAITING_HEAD
        self._input = RequestReader(resources.settings.max_header_bytes)
        self._request: ProxiedRequest | None = None
        self._successor: UpgradedProtocol | None = None
        self._proxy_client: ProxyClient | None = None
        self._advancing = False
        self._unread_for = 0
        self._idle = IdleTimer(resources.reactor, resources.settings.idle_seconds, self._too_quiet)
        self._half_close = HalfCloseWatch(resources.reactor, self._abort)

    # Twisted's side

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Wait for the first request."""
        self.transport.setTcpNoDelay(True)
        self._idle.start()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read requests; drop bytes once the connection is closing."""
        if self._successor is not None:
            self._successor.data_received(data)
        elif self._state is not State.CLOSING:
            self._idle.heard = True
            self._input.received(data)
            self._advance()

    def readConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Handle the client's FIN: finish the response to a complete request, then close."""
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
        """Do nothing: this side closed its own direction and waits for the client's FIN."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """Cancel the current request, WebSocket or tunnel."""
        self._router.lost(reason.value)
        self.gone()
        self._ended()

    def gone(self) -> None:
        """Release everything, because the connection is lost or belongs to the service now."""
        self._enter(State.LOST)
        self._idle.stop()
        self._half_close.stop()
        request, self._request = self._request, None
        if request is not None:
            request.client_gone()
        successor, self._successor = self._successor, None
        if successor is not None:
            successor.lost()
        self.belongs_to(None)
        self._tie(None)

    def _tie(self, tied: TiedUpstream | None) -> None:
        """Let the requests of this connection share one to the server of a tunnel."""
        before, self._tied = self._tied, tied
        if before is not None:
            before.close()
        if tied is not None:
            self.upstreams = tied

    def _upstream_lost(self, is_reset: bool) -> None:  # noqa: FBT001 - the only argument
        """End the connection, as the server has ended its own between two requests."""
        if self._state is not State.AWAITING_HEAD or self._input.unread:
            return
        if is_reset:
            self.reset()
        else:
            self._close(unread=False)

    # Reading

    def _advance(self) -> None:
        """Process received bytes until the state does not allow more."""
        if self._advancing:
            return
        self._advancing = True
        try:
            while self._step():
                pass
        except BadMessageError as error:
            self.refuse(error)
        except Exception:  # noqa: BLE001 - one client's trouble is not the others'
            self.log.failure("a connection of the forward proxy failed")
            self.transport.abortConnection()
        finally:
            self._advancing = False

    def _step(self) -> bool:
        """Take one step of the state table.

        :returns: whether to try another step.
        """
        state = self._state
        if state is State.AWAITING_HEAD:
            return self._next_request()
        if state is State.READING_BODY:
            return self._next_piece()
        if state is State.ANSWERING and len(self._input.unread) > MOST_AHEAD:
            self._pause(_AHEAD, on=True)
        return False

    def _next_request(self) -> bool:
        if self._unread_for:
            self._pause(_AHEAD, on=False)
        found = self._input.head()
        if found is None:
            return False
        self._router.enter(self, *found)
        # Behind a CONNECT another request may have arrived in the same bytes.
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

    def belongs_to(self, proxy_client: ProxyClient | None) -> None:
        """Count this connection as one of a proxy client; ``None``: of none any more."""
        before, self._proxy_client = self._proxy_client, proxy_client
        if before is not None and self.resources.proxy_clients is not None:
            self.resources.proxy_clients.leave(before)

    def begin(self, request: ProxiedRequest) -> None:
        """Start a request; the part of its body that has arrived is passed to it."""
        self._request = request
        if request.body_state.is_complete:
            self._enter(State.ANSWERING)
            request.announce(b"")
            return
        self._enter(State.READING_BODY)
        content = self._input.begin_body(request.body)
        if self._input.body_complete:
            self._enter(State.ANSWERING)
            request.announce(content)
            return
        self._idle.start()
        if content:
            request.request_data(content)
        request.announce(None)

    # Other readers

    def succeed(self, successor: UpgradedProtocol) -> None:
        """Hand further reading over to another protocol, beginning with the unread bytes."""
        self._enter(State.UPGRADED)
        self._successor = successor
        self._idle.stop()
        unread = self._input.take()
        if unread:
            successor.data_received(unread)

    def go_on(
        self, data: bytes, router: RequestRouter, origin: Origin, *, context: Any = None
    ) -> None:
        """Read requests again, behind CONNECT.

        :param data: the bytes that were read behind CONNECT already.
        :param router: for the requests behind CONNECT.
        :param origin: their server.
        :param context: the TLS context of the server side, if the client speaks TLS.
        """
        self._enter(State.AWAITING_HEAD)
        self._successor = None
        self._router = router
        self._tie(TiedUpstream(self.resources.pool, origin, self._upstream_lost))
        self._idle.start()
        if context is None:
            self.dataReceived(data)
        else:
            self.secure = True
            self.transport.startTLS(context, True)  # noqa: FBT003 - Twisted's
            self.transport.protocol.dataReceived(data)

    # The ClientTransport of requests

    def local(self) -> Any:
        """Return the local address to which the client connected."""
        return self.transport.getHost()

    def write(self, data: bytes) -> None:
        """Send bytes to the client."""
        self._half_close.written = True
        self.transport.write(data)

    def hold_body(self, *, hold: bool) -> None:
        """Pause or resume reading the request's body."""
        self._pause(_BODY, on=hold)

    def consume(self, producer: IPushProducer | None) -> None:
        """Register the producer of a response body; ``None`` unregisters it."""
        if self._state is State.LOST:
            return
        if producer is None:
            self.transport.unregisterProducer()
        else:
            widen(self.transport)
            self.transport.registerProducer(producer, True)  # noqa: FBT003 - Twisted's

    def finished(self, *, close: bool) -> None:
        """Read the next request, or close the connection once everything is sent."""
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

    def end(self, answer: bytes) -> None:
        """Send an answer and close the connection, between requests."""
        self.write(answer)
        self._close(unread=True)

    def reset(self) -> None:
        """Abort the connection with a TCP reset, so that the client sees a network error."""
        self._request = None
        self._enter(State.CLOSING)
        self.transport.abortConnection()

    # Ends

    def _enter(self, state: State) -> None:
        """Change the state, if the table allows it.

        A connection can be ended twice, by its client and by the request that is then cancelled,
        so a transition that the table does not have is ignored.
        """
        if state in self._state.following:
            self._state = state

    def _abort(self) -> None:
        self.transport.abortConnection()

    def refuse(self, error: BadMessageError) -> None:
        """Answer a malformed message with its error and close; cancel its request, if it began.

        If a part of the response was sent already, the connection is aborted instead.
        """
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
        if self.secure or ISSLTransport.providedBy(self.transport):
            # Twisted ends the connection once the client has answered the end of TLS, which some
            # clients, such as Java's, do not while it is open. So its end follows at once.
            self.transport.loseConnection()
            self.transport.loseWriteConnection()
            return
        if not unread:
            self.transport.loseConnection()
            return
        self.transport.resumeProducing()
        self.transport.loseWriteConnection()
        self._idle = IdleTimer(self.resources.reactor, LINGER_SECONDS, self._abort)
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
        """Handle the idle timer: 408 for an incomplete head or body, else close."""
        if self._state is State.READING_BODY:
            # Bytes came since the timer began, or could not come because reading is paused.
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
        self.refuse(BadMessageError(text, status=408, code="request_timeout"))
