"""An HTTP request to the service, with its target as it was sent and without its body."""

from io import BytesIO
from typing import Any

from twisted.python.failure import Failure
from twisted.web.http import datetimeToString
from twisted.web.server import Request

from trafficmock.http.responses import INTERNAL, error


class Discarded(BytesIO):
    """A file that discards the bytes written to it: the service reads no request bodies."""

    def write(self, content: Any) -> int:
        return len(content)


class ServiceRequest(Request):
    """A request whose path is neither decoded nor normalised before the root resource sees it."""

    channel: Any
    site: Any
    transport: Any
    defaultContentType = None  # noqa: N815 - Twisted's name

    def gotLength(self, length: int | None) -> None:  # noqa: ARG002, N802 - Twisted's signature
        """Discard a body of any length."""
        self.content = Discarded()

    def getRequestHostname(self) -> bytes:  # noqa: N802 - Twisted's name
        """Return a fixed host for the router; ``http.access`` checks the ``Host`` header."""
        return b"trafficmock"

    def process(self) -> None:
        """Render the root resource of the site for this request."""
        self.site = self.channel.site
        self.setHeader(b"server", self.site.server_header)
        self.setHeader(b"date", datetimeToString())
        self.prepath = []
        self.postpath = self.path.split(b"/")
        try:
            self.render(self.site.resource)
        except Exception:  # noqa: BLE001 - the client gets a response to any error
            self.processingFailed(Failure())

    def processingFailed(self, reason: Failure) -> Failure:  # noqa: N802 - Twisted's name
        """Respond with 500, or abort the connection if the response has begun."""
        answer = self.broken(reason)
        if self.startedWriting:
            self.transport.abortConnection()
        else:
            self.write(answer)
            self.finish()
        return reason

    def broken(self, failure: Failure) -> bytes:
        """Log an internal error.

        :returns: the body of the 500 response, without the traceback; empty if the response has
            begun.
        """
        self._log.failure("While answering {uri!r}", failure=failure, uri=self.uri)
        return b"" if self.startedWriting else error(self, INTERNAL)
