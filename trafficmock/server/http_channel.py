"""The HTTP/1.1 parser with limits that answer: too long is 431, malformed is 400."""

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
    """Write a whole error answer for when there is no request to answer."""
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

    :param max_header_bytes: for the request line and all header lines together.
    """

    transport: Any
    _networkProducer: Any  # noqa: N815 - Twisted's name
    _refused = False
    _asked_all = False

    def __init__(self, *, max_header_bytes: int) -> None:
        super().__init__()
        # In Twisted's namespace: what it logs of idle connections is not the service's own.
        self._log = Logger("twisted.web.http")
        self.MAX_LENGTH = max_header_bytes
        self.totalHeadersSize = max_header_bytes

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read, unless this client has been refused."""
        if not self._refused:
            super().dataReceived(data)

    def resetTimeout(self) -> None:  # noqa: N802 - Twisted's name
        """Give a head its time once: a byte now and then must not hold a connection for ever."""
        if not (self.line_mode and (self._receivedHeaderSize or self._buffer)):
            super().resetTimeout()

    def readConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Answer what a client asked before it closed its direction, then close the other."""
        self._asked_all = True
        self._close_when_answered()

    def writeConnectionLost(self) -> None:  # noqa: N802 - Twisted's name
        """Go on waiting for the end: it was caused here."""

    def requestDone(self, request: Request) -> None:  # noqa: N802 - Twisted's name
        """Take the next request, if there is one."""
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
        """Refuse more headers than a request can need."""
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
        """Answer 400 in the form of the service's errors, where Twisted sends none."""
        self.refuse(400, "bad_request", "This is not a well-formed request of HTTP/1.1.")

    def refuse(self, status: int, code: str, message: str) -> None:
        """Answer, read no further, and close once the client has had time to see it."""
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
        """Let go of the transport: another protocol takes it."""
        self._networkProducer.unregisterProducer()
