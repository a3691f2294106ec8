"""Reports a streamed request and its response to the coordinator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET
from twisted.logger import Logger

from trafficmock.proxy.transfer import request_rewriting
from trafficmock.proxy.transfer.body_capture import BodyCapture, response_of
from trafficmock.wire.inbound import RequestBody, RequestResponse
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.serialized_response import REDIRECTS

if TYPE_CHECKING:
    from msgspec import UnsetType

    from trafficmock.proxy.http1.heads import Pairs, ResponseHead
    from trafficmock.proxy.transfer.proxied_request import ProxiedRequest
    from trafficmock.proxy.upstream_errors import UpstreamError
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

_log = Logger()


class TransferReport:
    """Copies both bodies as they stream, and reports heads and bodies once (feature ``stream``).

    :param proxied: the request.
    :param url: the URL that it is sent to.
    :param body: the part of its body that has arrived; ``None`` if the coordinator has the body.
    """

    def __init__(self, proxied: ProxiedRequest, url: str, body: bytes | None) -> None:
        proxy_client = self._proxy_client = proxied.proxy_client
        self._id = proxied.id
        self._context_id = proxied.context_id
        self._url = url
        self._limit = proxy_client.limits.history if proxy_client.limits else 0
        self._request: BodyCapture | None = None
        self._request_complete = False
        self._head: ResponseHead | None = None
        self._pairs: Pairs = []
        self._response: BodyCapture | None = None
        self._head_reported = False
        self._over = False
        if body is not None:
            self._request = BodyCapture(self._limit)
            self._request.add(body)

    def request_data(self, data: bytes) -> None:
        """Add a piece of the request's body that was sent."""
        if self._request is not None:
            self._request.add(data)

    def request_complete(self) -> None:
        """Note that the request's body was sent completely."""
        self._request_complete = True

    def response_head(self, head: ResponseHead, pairs: Pairs, *, body: bool) -> None:
        """Note the head of the response.

        :param pairs: its end-to-end header lines.
        :param body: whether it has one.
        """
        self._head, self._pairs = head, pairs
        if body:
            self._response = BodyCapture(self._limit)

    def response_data(self, data: bytes) -> None:
        """Add a piece of the response's body."""
        if self._response is not None:
            self._response.add(data)

    def report_head(self) -> None:
        """Report the head of a response, once, before its body is complete: it may never end."""
        head = self._head
        if self._head_reported or self._over or head is None:
            return
        self._head_reported = True
        if self._request_complete:
            self._report_request()
        response = response_of(self._url, head, self._pairs)
        self._proxy_client.send(
            RequestResponse(self._id, ok=True, response=response, body_pending=True)
        )

    def report_end(self, error: UpstreamError | None) -> None:
        """Report the end of the transfer.

        :param error: the reason if the response is missing or incomplete, else ``None``.
        """
        if self._over:
            return
        self._over = True
        self._report_request()
        head = self._head
        if head is None:
            self._send_end(UNSET, error)
            return
        copy = self._response
        full_size = copy.size if copy is not None and copy.truncated else None
        leads_on = self._remember_redirect(head)
        # A redirect must be reported before the request that follows it is announced.
        decoders = self._proxy_client.decoders
        plain = decoders.plain(self._pairs, copy, self._limit, soon=leads_on or decoders.busy)
        plain.addCallback(
            lambda found: self._send_end(
                response_of(self._url, head, *found, full_size=full_size), error
            )
        )
        plain.addErrback(lambda failure: _log.failure("a report failed", failure=failure))

    def _send_end(
        self, response: SerializedResponse | UnsetType, error: UpstreamError | None
    ) -> None:
        self._proxy_client.send(
            RequestResponse(
                self._id,
                ok=error is None,
                response=response,
                error=UNSET if error is None else error.serialized(),
            )
        )

    def _report_request(self) -> None:
        copy, self._request = self._request, None
        if copy is None:
            return
        cut = copy.truncated or not self._request_complete
        self._proxy_client.send(
            RequestBody(
                self._id,
                bodies.from_bytes(copy.take()),
                truncated=True if cut else UNSET,
                body_size=copy.size if cut else UNSET,
            )
        )

    def _remember_redirect(self, head: ResponseHead) -> bool:
        """Return whether a response is a redirect, and remember its target."""
        location = head.fields.get(b"location")
        if head.status not in REDIRECTS or not location:
            return False
        url = request_rewriting.resolve(self._url, location)
        if url is not None:
            self._proxy_client.redirected(self._id, url, self._context_id)
        return True
