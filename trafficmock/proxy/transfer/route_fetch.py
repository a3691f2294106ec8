"""Carries out ``route.fetch``: fetches a whole response, follows redirects, records nothing."""

from __future__ import annotations

from typing import Any

from attrs import frozen
from msgspec import UNSET, structs
from treq.client import HTTPClient
from twisted.internet.task import deferLater
from twisted.web.http_headers import Headers

from trafficmock.http.exact_url import ExactUrl
from trafficmock.proxy import request_target
from trafficmock.proxy.http1.forwarded_headers import end_to_end
from trafficmock.proxy.http1.heads import BadMessageError, Pairs, ResponseHead
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.transfer import request_rewriting
from trafficmock.proxy.transfer.body_capture import response_of
from trafficmock.proxy.transfer.request_rewriting import Rewritten
from trafficmock.proxy.transfer.upstream_agent import BytesBody, UpstreamAgent, UpstreamResponse
from trafficmock.proxy.upstream_errors import UpstreamError
from trafficmock.wire import outbound
from trafficmock.wire.http_syntax import CONTENT_HEADERS, CREDENTIALS
from trafficmock.wire.limits import FIRST_PAUSE_SECONDS, MOST_REDIRECTS
from trafficmock.wire.payloads.serialized_response import (
    SerializedResponse,
    becomes_get,
    redirect_target,
)

_NOT_FETCHED = frozenset({b"accept-encoding", b"expect"})
"""Headers of the client that are not sent: the test needs a body that can be decoded here."""

_CREDENTIALS = frozenset(name.encode("ascii") for name in CREDENTIALS)
_ABOUT_CONTENT = frozenset(name.encode("ascii") for name in CONTENT_HEADERS)


@frozen
class RouteFetch:
    """Fetches the whole response to a request.

    :param local: the local address to which the client connected.
    :param most_bytes: of the decoded body, 0 for no limit.
    """

    resources: ProxyResources
    local: Any
    most_bytes: int

    async def response(
        self, request: Rewritten, order: outbound.DecisionFetch
    ) -> SerializedResponse:
        """Fetch a request, with its own content, by the redirects and retries of ``order``.

        :raises UpstreamError: if there is no response.
        """
        pairs = [pair for pair in request.pairs if pair[0].lower() not in _NOT_FETCHED]
        most = MOST_REDIRECTS if order.max_redirects is UNSET else order.max_redirects
        retries = 0 if order.max_retries is UNSET else order.max_retries
        request = structs.replace(request, pairs=pairs)
        for _ in range(most + 1):
            answer = await self._with_retries(request, retries)
            following = _next_hop(request, answer.head) if most else None
            if following is None:
                return await self._plain(request.url, answer)
            request = following
        raise UpstreamError(
            "Max redirect count exceeded", code="upstream_error", errno="EREDIRECTS"
        )

    async def _with_retries(self, request: Rewritten, retries: int) -> UpstreamResponse:
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(retries + 1):
            try:
                return await self._ask(request)
            except UpstreamError as error:
                if error.errno != "ECONNRESET" or attempt == retries:
                    if not retries:
                        raise
                    text = f"Failed after {attempt + 1} attempt(s): {error.text}"
                    raise UpstreamError(text, code=error.code, errno=error.errno) from None
            await deferLater(self.resources.reactor, pause)
            pause *= 2
        raise UpstreamError("No attempt was made.", code="upstream_error")

    async def _ask(self, request: Rewritten) -> UpstreamResponse:
        """Send a request once, by treq."""
        agent = UpstreamAgent(self.resources, self.local, self.most_bytes)
        client = HTTPClient(agent, data_to_body_producer=BytesBody)
        path = "" if request.path == b"*" else request.path.decode("ascii")
        answer: Any = await client.request(
            request.method.decode("ascii"),
            ExactUrl(f"{request.origin}{path}"),
            headers=_headers(request.pairs),
            data=request.content or None,
            allow_redirects=False,
            unbuffered=True,
        )
        response: UpstreamResponse = answer.original
        return response

    async def _plain(self, url: str, answer: UpstreamResponse) -> SerializedResponse:
        decoders, pairs = self.resources.decoders, end_to_end(answer.head)
        plain = await decoders.plain(pairs, answer.body, self.most_bytes)
        response = response_of(url, answer.head, *plain, trailers=answer.trailers)
        if b"content-encoding" in answer.head.fields:
            return response
        return structs.replace(response, pieces=answer.arrival.recorded())


def _headers(pairs: Pairs) -> Headers:
    headers = Headers()
    for name, value in pairs:
        headers.addRawHeader(name, value)
    return headers


def _next_hop(request: Rewritten, head: ResponseHead) -> Rewritten | None:
    """Make the request that follows a redirect (Fetch standard, HTTP-redirect fetch).

    :returns: ``None`` if the response is not a redirect.
    :raises UpstreamError: if its ``Location`` is not a URL for the proxy.
    """
    if not head.redirect:
        return None
    url = redirect_target(request.url, head.redirect)
    try:
        aim = None if url is None else request_target.absolute(url.encode("ascii"))
    except (BadMessageError, ValueError):
        aim = None
    if aim is None:
        raise UpstreamError(
            f"The server redirects to {head.redirect[:200]!r}, which is no URL.",
            code="upstream_error",
            errno="ERR_INVALID_URL",
        )
    method, content, pairs = request.method, request.content, request.pairs
    if becomes_get(head.status, method.decode("ascii")):
        method, content = b"GET", b""
        pairs = [pair for pair in pairs if pair[0].lower() not in _ABOUT_CONTENT]
    if aim.origin != request.origin:
        pairs = [pair for pair in pairs if pair[0].lower() not in _CREDENTIALS]
    return request_rewriting.Rewritten(method, aim.origin, aim.path, aim.url, pairs, content)
