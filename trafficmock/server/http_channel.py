"""Twisted's HTTP/1.1 parser with limits; it answers 431 to long heads, 400 to malformed ones."""

from collections.abc import Iterable
from typing import Any

from twisted.internet.interfaces import IHalfCloseableProtocol
from twisted.logger import Logger
from twisted.web.http import HTTPChannel, Request
from zope.interface import implementer

from trafficmock.http.http_limits import LINGER_SECONDS
from trafficmock.http.responses import JSON, SAFETY, error_body, reason


def bare_answer(
    status: int, code: str, message: str, headers: Iterable[tuple[bytes, bytes]] = ()
) -> bytes:
    """Write a whole error response, for a connection without a ``Request`` of Twisted.

    :param code: the ``error`` in its body.
    :param headers: further header lines.
    """
    body = error_body(code, message)
    head = (
        b"HTTP/1.1 %d %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n"
        b"cache-control: no-store\r\nconnection: close\r\n%s\r\n"
    )
    more = b"".join(b"%s: %s\r\n" % pair for pair in (*SAFETY, *headers))
    return head % (status, reason(status), JSON, len(body), more) + body


@implementer(IHalfCloseableProtocol)
class ServiceChannel(HTTPChannel):
    """One HTTP connection of the service.

    :param max_header_bytes: the longest request line and header together.
    """

    transport: Any
    _networkProducer: Any  # noqa: N815 - Twisted's name
    _refused = False
    _asked_all = False

    def __init__(self, *, max_header_bytes: int) -> None:
        super().__init__()
        # Twisted's namespace, because its lines about idle connections are not the service's.
        self._log = Logger("twisted.web.http")
        self.MAX_LENGTH = max_header_bytes
        self.totalHeadersSize = max_header_bytes

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read requests; drop bytes after :meth:`refuse`."""
        if not self._refused:
            super().dataReceived(data)

    def resetTimeout(self) -> None:  # noqa: N802 - Twisted's name
        """Limit the time of a whole head: single bytes do not restart the timer."""
        if not (self.line_mode and (self._receivedHeaderSize or self._buffer)):
            super().resetTimeout()

    def readConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Handle the client's FIN: answer the requests before it, then close the connection."""
        self._asked_all = True
        self._close_when_answered()

    def writeConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: this side closed its direction itself."""

    def requestDone(self, request: Request) -> None:  # noqa: N802 - Twisted's name
        """Read the next request, or close after the last one."""
        super().requestDone(request)
        self._close_when_answered()

    def _close_when_answered(self) -> None:
        if self._asked_all and not self._handlingRequest:
            self._asked_all = False
            self.loseConnection()

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        """Count the header's bytes before it is parsed."""
        if self._receivedHeaderSize + len(line) > self.totalHeadersSize:
            self.lineLengthExceeded(line)
            return
        super().lineReceived(line)

    def headerReceived(self, line: bytes) -> bool:  # noqa: N802 - Twisted's name
        """Refuse a request with too many header lines."""
        if self._receivedHeaderCount >= self.maxHeaders:
            self.lineLengthExceeded(line)
            return False
        return bool(super().headerReceived(line))

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: ARG002, N802 - Twisted's signature
        self.refuse(
            431,
            "headers_too_large",
            f"The request line and headers are over {self.totalHeadersSize} bytes or "
            f"{self.maxHeaders} lines. Send less, or raise --max-header-bytes.",
        )

    def _respondToBadRequestAndDisconnect(self) -> None:  # noqa: N802 - Twisted's hook
        """Answer 400 with a JSON body, which Twisted's answer does not have."""
        self.refuse(400, "bad_request", "This is not a well-formed request of HTTP/1.1.")

    def refuse(self, status: int, code: str, message: str) -> None:
        """Send an error response, stop reading, and close after :data:`LINGER_SECONDS`.

        Closing at once could reset the connection before the client has read the response.
        """
        self.transport.write(bare_answer(status, code, message))
        self.clearLineBuffer()
        self._refused = True
        half_close = getattr(self.transport, "loseWriteConnection", None)
        if half_close is None:
            self.loseConnection()
            return
        half_close()
        self.setTimeout(LINGER_SECONDS)

    def hand_over(self) -> None:
        """Unregister from the transport, which another protocol takes over."""
        self._networkProducer.unregisterProducer()
