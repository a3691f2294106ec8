"""An HTTP request to the service: its target as it was sent, and no body."""

from io import BytesIO
from typing import Any

from twisted.python.failure import Failure
from twisted.web.http import datetimeToString
from twisted.web.server import Request

from trafficmock.http.responses import INTERNAL, error


class Discarded(BytesIO):
    """Takes a request body and forgets it: nothing here reads one."""

    def write(self, content: Any) -> int:
        return len(content)


class ServiceRequest(Request):
    """A request whose path is neither decoded nor normalised before the root resource sees it."""

    channel: Any
    site: Any
    transport: Any
    defaultContentType = None  # noqa: N815 - Twisted's name

    def gotLength(self, length: int | None) -> None:  # noqa: ARG002, N802 - Twisted's signature
        """Prepare for a body of any length."""
        self.content = Discarded()

    def getRequestHostname(self) -> bytes:  # noqa: N802 - Twisted's name
        """Name one host for routers; ``http.access`` checks the one that the client named."""
        return b"trafficmock"

    def process(self) -> None:
        """Give the request to the root resource of the site."""
        self.site = self.channel.site
        self.setHeader(b"server", self.site.server_header)
        self.setHeader(b"date", datetimeToString())
        self.prepath = []
        self.postpath = self.path.split(b"/")
        try:
            self.render(self.site.resource)
        except Exception:  # noqa: BLE001 - the client gets an answer whatever went wrong
            self.processingFailed(Failure())

    def processingFailed(self, reason: Failure) -> Failure:  # noqa: N802 - Twisted's name
        """Answer 500, or cut off what has begun."""
        answer = self.broken(reason)
        if self.startedWriting:
            self.transport.abortConnection()
        else:
            self.write(answer)
            self.finish()
        return reason

    def broken(self, failure: Failure) -> bytes:
        """Log an internal error.

        :returns: what the client gets, in the form of the service's errors, without the traceback.
        """
        self._log.failure("While answering {uri!r}", failure=failure, uri=self.uri)
        return b"" if self.startedWriting else error(self, INTERNAL)
