"""A client's connection to the forward proxy: requests in, one at a time."""

from __future__ import annotations

import typing
from enum import Enum
from typing import TYPE_CHECKING, Any

from twisted.internet.interfaces import IHalfCloseableProtocol, ISSLTransport
from twisted.internet.protocol import Protocol, connectionDone
from twisted.logger import Logger
from zope.interface import implementer

from trafficmock.proxy.downstream.half_close import HalfCloseWatch
from trafficmock.proxy.http1.body_readers import reader
from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.proxy.http1.request_heads import take_request_head
from trafficmock.proxy.upstream.upstream_connection import widen
from trafficmock.proxy.upstream_errors import error_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.interfaces import IDelayedCall, IPushProducer
    from twisted.python.failure import Failure

    from trafficmock.proxy.http1.body_readers import BodyReader
    from trafficmock.proxy.http1.heads import RequestHead
    from trafficmock.proxy.proxy_clients import ProxyClient
    from trafficmock.proxy.proxy_settings import ProxyContext
    from trafficmock.proxy.transfer.proxied_request import ProxiedRequest

MOST_AHEAD = 64 * 1024
"""Bytes of later requests that are read while one is answered."""

LINGER_SECONDS = 2.0
"""How long a client may still send before a connection that is done is closed.

Closing at once, with bytes unread, would reset it and could take the answer along.
"""

_BODY, _AHEAD = 1, 2
"""Why a connection is not read, as bits: the body is held back, or too much came ahead."""


class State(Enum):
    """The life of a client's connection."""

    READING = "reading requests"
    HALF_CLOSED = "the client sends no more; its request is still answered"
    CLOSING = "what the client sends is ignored; the connection ends when all is written"
    LOST = "gone, or handed to another protocol"


_NEXT = {
    State.READING: {State.HALF_CLOSED, State.CLOSING, State.LOST},
    State.HALF_CLOSED: {State.CLOSING, State.LOST},
    State.CLOSING: {State.LOST},
    State.LOST: set[State](),
}
"""The steps of that life; others change nothing, since it only goes forward."""


class UpgradedProtocol(typing.Protocol):
    """Reads what comes after HTTP on a client's connection."""

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""

    def done(self) -> None:
        """Take it that the client has closed its direction."""

    def lost(self) -> None:
        """Take it that the client is gone."""


class RequestRouter(typing.Protocol):
    """Knows what the requests of a connection are aimed at."""

    def enter(self, connection: ClientConnection, head: RequestHead, raw: bytes) -> None:
        """Let a request go its way.

        :param raw: its bytes and all that came behind it.
        :raises BadMessageError: it cannot.
        """

    def lost(self, reason: BaseException | None) -> None:
        """Learn why the connection ended."""


@implementer(IHalfCloseableProtocol)
class ClientConnection(Protocol):
    """Speaks HTTP/1.1 to an application.

    :param context: what all connections of the proxy have in common.
    :param router: lets each request go its way.
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
        self._buffer = b""
        self._proxy_client: ProxyClient | None = None
        self._request: ProxiedRequest | None = None
        self._reader: BodyReader | None = None
        self._advancing = False
        self._paused = 0
        self._received = False
        self._half_close = HalfCloseWatch(context.reactor, self._abort)
        self._state = State.READING
        self._successor: UpgradedProtocol | None = None
        self._timer: IDelayedCall | None = None

    # Twisted's side

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Wait for the first request."""
        self.transport.setTcpNoDelay(True)
        self._wait()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take what the client sends, unless it has been told that we are done."""
        if self._successor is not None:
            self._successor.data_received(data)
            return
        if self._state is State.CLOSING:
            return
        self._received = True
        self._buffer = self._buffer + data if self._buffer else data
        self._advance()

    def readConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Answer what was asked before the client closed its direction."""
        self._enter(State.HALF_CLOSED)
        if self._successor is not None:
            self._successor.done()
        elif self._request is None:
            self.transport.loseConnection()
        elif not self._request.request_done:
            self.transport.abortConnection()
        else:
            self._half_close.start()

    def writeConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Go on waiting for the end: it was our own doing."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """Give up what is under way."""
        self._router.lost(reason.value)
        self.gone()
        self._ended()

    def gone(self) -> None:
        """Let go of everything: the connection is lost, or somebody else's now."""
        self._enter(State.LOST)
        self._stop_waiting()
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
        """Go on as far as the bytes that are there allow."""
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
        over = self._state is State.CLOSING or self._state is State.LOST
        if over or self._successor is not None:
            return False
        request = self._request
        if request is None:
            return self._next_request()
        if request.request_done or self._reader is None:
            ahead = len(self._buffer) > MOST_AHEAD
            self._pause(_AHEAD, on=ahead)
            return False
        if not self._buffer:
            return False
        content, self._buffer = self._reader.feed(self._buffer)
        if content:
            request.request_data(content)
        if self._reader.done and self._request is request:
            request.request_end()
            return True
        return False

    def _next_request(self) -> bool:
        self._pause(_AHEAD, on=False)
        raw = self._buffer = self._buffer.lstrip(b"\r\n")
        head, behind = take_request_head(raw, self.context.settings.max_header_bytes)
        if head is None:
            return False
        self._stop_waiting()
        self._buffer = behind
        self._router.enter(self, head, raw)
        # Behind CONNECT there may be no request, but a request that came along with it.
        return self._request is not None or (bool(self._buffer) and self._successor is None)

    def belongs_to(self, proxy_client: ProxyClient) -> None:
        """Count for a proxy client until the end."""
        before, self._proxy_client = self._proxy_client, proxy_client
        if before is not None:
            self.context.proxy_clients.leave(before)

    def begin(self, request: ProxiedRequest) -> None:
        """Start a request; a body that is here already goes with it."""
        self._request = request
        self._reader = None
        content: bytes | None = b""
        if not request.request_done:
            content = None
            self._reader = reader(request.body)
            self._wait()
            if self._buffer:
                early, self._buffer = self._reader.feed(self._buffer)
                if self._reader.done:
                    content = early
                elif early:
                    request.request_data(early)
        request.announce(content)

    # Other readers

    def succeed(self, successor: UpgradedProtocol) -> None:
        """Let somebody else read from now on; what was read already comes first."""
        self._successor = successor
        self._stop_waiting()
        buffer, self._buffer = self._buffer, b""
        if buffer:
            successor.data_received(buffer)

    def go_on(self, data: bytes, router: RequestRouter, *, context: Any = None) -> None:
        """Read on behind CONNECT.

        :param data: what was read there already.
        :param router: for the requests there.
        :param context: of the server's side of TLS, where TLS comes first.
        """
        self._successor = None
        self._router = router
        self._wait()
        if context is None:
            self.dataReceived(data)
        else:
            self.secure = True
            self.transport.startTLS(context, True)  # noqa: FBT003 - Twisted's
            self.transport.protocol.dataReceived(data)

    # What a request asks for

    def local(self) -> Any:
        """Give the address of ours that the client came to."""
        return self.transport.getHost()

    def write(self, data: bytes) -> None:
        """Send to the client."""
        self._half_close.written = True
        self.transport.write(data)

    def hold_body(self, *, hold: bool) -> None:
        """Stop reading the request's body, or read on."""
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
        if close or self._state is State.HALF_CLOSED:
            self._close(unread=not request.request_done or bool(self._buffer))
        else:
            self._wait()
            if self._buffer:
                self._advance()

    def reset(self) -> None:
        """Cut the connection, so that the client sees an error of the network."""
        self._request = None
        self._enter(State.CLOSING)
        self.transport.abortConnection()

    # Ends

    def _enter(self, state: State) -> None:
        if state in _NEXT[self._state]:
            self._state = state

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
        self._buffer = b""
        self._paused = 0
        # TLS has no end of one direction alone.
        if not unread or self.secure or ISSLTransport.providedBy(self.transport):
            self.transport.loseConnection()
            return
        self.transport.resumeProducing()
        self.transport.loseWriteConnection()
        self._timer = self.context.reactor.callLater(LINGER_SECONDS, self.transport.abortConnection)

    def _pause(self, why: int, *, on: bool) -> None:
        before = self._paused
        self._paused = before | why if on else before & ~why
        if self._state is State.LOST or bool(before) == bool(self._paused):
            return
        if self._paused:
            self.transport.pauseProducing()
        else:
            self.transport.resumeProducing()

    def _wait(self) -> None:
        """Give the client its time for the next request, or for the next piece of its body."""
        self._stop_waiting()
        self._received = False
        self._timer = self.context.reactor.callLater(
            self.context.settings.idle_seconds, self._too_quiet
        )

    def _stop_waiting(self) -> None:
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = None

    def _too_quiet(self) -> None:
        self._timer = None
        request = self._request
        if request is not None and (self._received or self._paused):
            # It went on in the meantime, or could not because it is not read.
            self._wait()
        elif request is not None and request.request_done:
            return
        elif self._buffer or request is not None:
            self._refuse(
                BadMessageError(
                    "The request did not come in time.", status=408, code="request_timeout"
                )
            )
        else:
            self._enter(State.CLOSING)
            self.transport.loseConnection()
