"""A mock whose body comes in pieces, written to the client of the forward proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

from trafficmock.proxy.http1.forwarded_headers import chunk
from trafficmock.proxy.transfer import request_rewriting
from trafficmock.wire.inbound import FromWorker, StreamAbort, StreamAck, StreamData
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.abort_codes import RESETS
from trafficmock.wire.payloads.serialized_response import SerializedResponse

if TYPE_CHECKING:
    from trafficmock.proxy.transfer.proxied_request import ProxiedRequest


@implementer(IPushProducer)
class StreamedMock:
    """The answer to a request, of which the pieces come from a test.

    A piece is acknowledged when it was written and the client's connection takes more.
    """

    def __init__(self, request: ProxiedRequest) -> None:
        self._request = request
        self._chunked = request.head.minor > 0
        self._paused = False
        self._written = 0
        self._acknowledged = 0

    def begin(self, head: SerializedResponse) -> None:
        """Write the head; HTTP/1.0 has no chunks, so there the end of the body closes.

        :raises UpstreamError: if a header cannot be sent over HTTP.
        """
        request = self._request
        request.keep = request.keep and request.body_state.is_complete and self._chunked
        self._head = head
        data = request_rewriting.streamed_head(head, chunked=self._chunked, close=not request.keep)
        request.client.write(data)
        request.client.consume(self)

    def on_message(self, message: FromWorker) -> None:
        """Write a piece, or the end of the body."""
        self._written = message.seq
        if isinstance(message, StreamData):
            self._write(bodies.to_bytes(message.body))
            if not self._paused:
                self._acknowledge()
            return
        self._acknowledge()
        self._request.client.consume(None)
        if isinstance(message, StreamAbort):
            noticeable = self._chunked and message.error_code not in RESETS
            self._request.cut_off(noticeable=noticeable)
            return
        if self._chunked:
            self._request.client.write(request_rewriting.streamed_end(self._head))
        self._request.finish()

    def _write(self, content: bytes) -> None:
        if content:
            self._request.client.write(chunk(content) if self._chunked else content)

    def _acknowledge(self) -> None:
        if self._acknowledged < self._written:
            self._acknowledged = self._written
            self._request.report(StreamAck(self._request.id, self._written))

    # The producer of the client's transport

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Acknowledge nothing, so that the test waits."""
        self._paused = True

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Acknowledge what was written: the client's connection takes more."""
        self._paused = False
        self._acknowledge()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: the client's connection tells the request that it is lost."""
