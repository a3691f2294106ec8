"""A connection to a server: sends one request at a time, and passes its response on in pieces."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from OpenSSL import SSL
from twisted.internet import error as network
from twisted.internet.interfaces import IHandshakeListener, IPushProducer
from twisted.internet.protocol import Protocol as TwistedProtocol
from twisted.internet.protocol import connectionDone
from twisted.protocols.tls import TLSMemoryBIOProtocol
from twisted.python.failure import Failure
from zope.interface import implementer

from trafficmock.proxy.http1 import framing
from trafficmock.proxy.http1.body_readers import BodyReader, RestReader, reader
from trafficmock.proxy.http1.framing import Framing
from trafficmock.proxy.http1.heads import (
    BadMessageError,
    Pairs,
    ResponseHead,
    parse_response,
    response_end,
)

STREAM_BYTES = 256 * 1024
"""Bytes that a transport of a streamed body reads at a time, and buffers for writing."""

_FIRST_FINAL = 200
_SWITCHING = 101
MOST_INTERIM = 100
"""The most 1xx responses to one request."""


_SETTINGS = re.compile(rb"\0..\x04[\0\1]\0{4}", re.DOTALL)
"""The head of a SETTINGS frame (RFC 9113 section 6.5), the first that a server of HTTP/2 sends."""


NO_PROTOCOL = "no application protocol"
"""In the text of OpenSSL for the alert of RFC 7301 section 3.2."""


class Http2Error(BadMessageError):
    """A server answers HTTP/1.1 with HTTP/2."""


def refuses_http_1_1(error: BaseException | None) -> bool:
    """Return whether a server does not accept HTTP/1.1: it says so within TLS, or by HTTP/2."""
    if isinstance(error, Http2Error):
        return True
    return isinstance(error, SSL.Error) and NO_PROTOCOL in str(error)


class ResponseListener(Protocol):
    """Receives the response of a server."""

    def interim(self, head: ResponseHead) -> None:
        """Handle a 1xx response; the final response follows."""

    def response_head(self, head: ResponseHead, body: Framing) -> None:
        """Handle the head of the final response."""

    def response_data(self, data: bytes) -> None:
        """Handle a piece of the body."""

    def response_end(self, trailers: Pairs) -> None:
        """Handle the end of the response; the listener gets no further calls.

        :param trailers: the fields behind a chunked body.
        """

    def response_pause(self) -> None:
        """Forward the pieces so far: no more bytes have arrived yet."""

    def upstream_lost(self, reason: BaseException, *, answered: bool) -> None:
        """Handle a failure.

        :param answered: whether the head of the final response had arrived.
        """

    def server_ready(self) -> None:
        """Resume the request's body: the server reads again."""

    def server_busy(self) -> None:
        """Pause the request's body: the server does not read fast enough."""


@implementer(IPushProducer, IHandshakeListener)
class UpstreamConnection(TwistedProtocol):
    """Speaks HTTP/1.1 with a server.

    It is the push producer of response bodies: a consumer pauses and resumes it.

    ``heard`` is whether any bytes arrived since the current request was sent, ``was_closed``
    whether the server ended the connection by a FIN. ``lost_idle`` is called when the connection is
    lost between two requests.

    :param max_header_bytes: the longest head of a response.
    :param handshaken: called after the TLS handshake, if there is TLS.
    :param ended: called when the connection is lost, with the reason.
    """

    transport: Any

    def __init__(
        self,
        *,
        max_header_bytes: int,
        handshaken: Callable[[UpstreamConnection], None],
        ended: Callable[[UpstreamConnection, BaseException], None],
    ) -> None:
        self.max_header_bytes = max_header_bytes
        self.idle_since = 0.0
        self.lost = False
        self.heard = False
        self.lost_idle: Callable[[], None] | None = None
        self.was_closed = False
        self._fin_is_end = False
        self._handshaken = handshaken
        self._ended = ended
        self._listener: ResponseListener | None = None
        self._method = b""
        self._buffer = b""
        self._reader: BodyReader | None = None
        self._sent_all = True
        self._answered = False
        self._interim = 0
        self._reusable = True
        self._producing = False
        self._held = False
        self._failure: BaseException | None = None

    # Twisted's side

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Disable Nagle's algorithm, so that small pieces are sent without delay."""
        self.transport.setTcpNoDelay(True)
        if isinstance(self.transport, TLSMemoryBIOProtocol):
            self._note_end(self.transport)

    def _note_end(self, tls: TLSMemoryBIOProtocol) -> None:
        """Note how the connection ends below TLS, which gives one reason for a FIN and a reset."""
        lost = tls.connectionLost

        def connection_lost(reason: Failure) -> None:
            self.was_closed = isinstance(reason.value, network.ConnectionDone)
            lost(reason)

        tls.connectionLost = connection_lost  # type: ignore[method-assign]

    def handshakeCompleted(self) -> None:  # noqa: N802 - Twisted's name
        """Have the name in the certificate checked."""
        self._handshaken(self)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        if self._listener is None:
            # Bytes without a request: they would count as the response to the next one.
            self.transport.abortConnection()
            return
        self.heard = True
        self._buffer = self._buffer + data if self._buffer else data
        listener = self._listener
        try:
            while self._buffer and self._listener is listener and self._step(listener):
                pass
        except BadMessageError as error:
            self._fail(error)
            return
        if self._listener is listener:
            listener.response_pause()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """Report an error, or the end of a body without a length."""
        self.lost = True
        error = self._failure or reason.value or network.ConnectionLost()
        self.was_closed |= isinstance(error, network.ConnectionDone)
        listener, self._listener = self._listener, None
        self._ended(self, error)
        if listener is None:
            if self.lost_idle is not None:
                self.lost_idle()
            return
        rest = isinstance(self._reader, RestReader)
        if rest and (isinstance(error, network.ConnectionDone) or self._is_end(error)):
            listener.response_end([])
        else:
            listener.upstream_lost(error, answered=self._answered)

    def _is_end(self, error: BaseException) -> bool:
        """Return whether a FIN without an end of TLS ends a body, for this request."""
        is_fin = self.was_closed and isinstance(error, network.ConnectionLost)
        return self._fin_is_end and is_fin

    # The request

    def begin(
        self,
        listener: ResponseListener,
        method: bytes,
        data: bytes,
        *,
        complete: bool,
        fin_is_end: bool = False,
    ) -> None:
        """Send a request.

        :param listener: gets its response.
        :param data: its head, and the part of its body that has arrived.
        :param complete: whether that is the whole request.
        :param fin_is_end: whether a body without a length is complete if the connection ends by a
            FIN, without an end of TLS. Python's ``ssl`` takes it so, OpenSSL for other clients not.
        """
        self.heard = False
        self._fin_is_end = fin_is_end
        self._interim = 0
        self._listener = listener
        self._method = method
        self._sent_all = complete
        self._answered = False
        self._reader = None
        if not complete:
            widen(self.transport)
            self.transport.registerProducer(_Body(listener), True)  # noqa: FBT003 - Twisted's
            self._producing = True
        self.transport.write(data)

    def send(self, data: bytes, *, complete: bool) -> None:
        """Send a piece of the request's body.

        :param complete: whether it is the last one.
        """
        if data:
            self.transport.write(data)
        if complete:
            self._sent_all = True
            self._stop_producing()

    def cancel(self) -> None:
        """Abort the connection, because the response is not needed any more."""
        self._listener = None
        self._stop_producing()
        self.transport.abortConnection()

    # The answer

    def _step(self, listener: ResponseListener) -> bool:
        if self._reader is None:
            return self._head(listener)
        content, self._buffer = self._reader.feed(self._buffer)
        if content:
            listener.response_data(content)
        if self._reader.done and self._listener is listener:
            self._finish(listener, self._reader.trailers)
        return False

    def _head(self, listener: ResponseListener) -> bool:
        if is_http_2(self._buffer):
            raise Http2Error("it speaks HTTP/2")
        end, behind = response_end(self._buffer, self.max_header_bytes)
        if end < 0:
            if len(self._buffer) > self.max_header_bytes:
                raise BadMessageError("the head of its answer is over --max-header-bytes")
            return False
        head = parse_response(self._buffer[:end])
        self._buffer = self._buffer[behind:]
        if head.status < _FIRST_FINAL:
            if head.status == _SWITCHING:
                raise BadMessageError("it switches protocols unasked")
            self._interim += 1
            if self._interim > MOST_INTERIM:
                raise BadMessageError("it sends interim answers without an end")
            listener.interim(head)
            return True
        body = framing.of_response(head, self._method)
        self._answered = True
        self._reader = reader(body, of_server=True)
        self._reusable = (
            framing.keeps_alive(head)
            and body is not framing.UNTIL_CLOSE
            and not framing.has_two(head)
        )
        listener.response_head(head, body)
        if self._reader.done and self._listener is listener:
            self._finish(listener, self._reader.trailers)
        return self._listener is listener

    def _finish(self, listener: ResponseListener, trailers: Pairs) -> None:
        self._listener = None
        self._reader = None
        self._stop_producing()
        if self._held:
            # With TLS the end of the response may have been decrypted before the pause.
            self.resumeProducing()
        if self._buffer or not self._sent_all:
            self._reusable = False
        listener.response_end(trailers)

    @property
    def will_be_kept(self) -> bool:
        """Whether the head of the response allows another request over the connection."""
        return self._reusable

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent over the connection."""
        return self._reusable and not self.lost and self._listener is None

    def _fail(self, error: BaseException) -> None:
        self._failure = error
        self.transport.abortConnection()

    def _stop_producing(self) -> None:
        if self._producing:
            self._producing = False
            self.transport.unregisterProducer()

    # As the producer of a response

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Stop reading, because the client does not read fast enough."""
        self._held = True
        self.transport.pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._held = False
        if not self.lost:
            self.transport.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: the listener calls :meth:`cancel` when the client is gone."""


def is_http_2(data: bytes) -> bool:
    """Return whether bytes of a server begin with a frame of HTTP/2."""
    return data[:1] == b"\0" and _SETTINGS.match(data) is not None


def widen(transport: Any) -> None:
    """Raise a transport's buffer to :data:`STREAM_BYTES`, for large bodies.

    Twisted's default is 64 KiB, and each buffer costs a round of system calls.
    """
    while (below := getattr(transport, "transport", None)) is not None:
        transport = below
    transport.bufferSize = STREAM_BYTES


@implementer(IPushProducer)
class _Body:
    """The push producer of the request's body, for the transport to the server."""

    def __init__(self, listener: ResponseListener) -> None:
        self._listener = listener

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._listener.server_busy()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._listener.server_ready()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: the connection reports its loss to the listener."""
