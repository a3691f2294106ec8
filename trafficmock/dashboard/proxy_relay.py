"""Answers pages of the dashboard with responses of the proxy, or with the state of its lists."""

from __future__ import annotations

import hashlib
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import treq
from attrs import Factory, define
from twisted.internet.defer import CancelledError, Deferred, FirstError, gatherResults
from twisted.logger import Logger
from twisted.web.http_headers import Headers

from trafficmock.dashboard.body_relay import BodyRelay
from trafficmock.dashboard.proxy_client import NOT_MODIFIED, ProxyApiClient
from trafficmock.http.etags import is_current
from trafficmock.http.responses import INTERNAL, RestError, encode, error, header, whole
from trafficmock.http.service_request import ServiceRequest

if TYPE_CHECKING:
    from twisted.python.failure import Failure
    from twisted.web.iweb import IResponse

_ASKED = (b"if-none-match", b"accept")
_PASSED_ON = (b"etag", b"content-disposition")
_STATES = {
    "history": b"/api/history?fields=summary&limit=0",
    "ws": b"/api/ws?fields=summary&limit=0",
    "connections": b"/api/connections?fields=tests",
}
_OK = 200


@define(eq=False)
class ProxyRelay:
    """Forwards requests of pages to the proxy.

    :param upstream: the client for the proxy.
    """

    log = Logger()

    _upstream: ProxyApiClient
    _under_way: set[Deferred[None]] = Factory(set)

    def answer(self, request: ServiceRequest, target: bytes) -> None:
        """Answer ``request`` with the proxy's response.

        :param target: path and query at the proxy.
        """
        self._start(request, self._pass_on(request, target))

    def answer_state(self, request: ServiceRequest) -> None:
        """Answer with the entity tags of both lists and of the connections, in one JSON object.

        A page polls it, and requests a list only if its tag has changed.
        """
        self._start(request, self._tell_state(request))

    def stop(self) -> None:
        for asking in list(self._under_way):
            asking.cancel()

    def open_links(self) -> int:
        """Return the number of requests that are being answered."""
        return len(self._under_way)

    def _start(self, request: ServiceRequest, work: Coroutine[Any, Any, None]) -> None:
        asking = Deferred.fromCoroutine(work)
        self._under_way.add(asking)
        request.notifyFinish().addErrback(lambda _: asking.cancel())
        asking.addErrback(self._failed, request)
        asking.addBoth(lambda _: self._under_way.discard(asking))

    async def _pass_on(self, request: ServiceRequest, target: bytes) -> None:
        response = await self._upstream.ask(target, method=request.method, headers=_picked(request))
        _prepare(request, response)
        body = BodyRelay(request, self._upstream.clock)
        response.deliverBody(body)
        await body.done

    async def _tell_state(self, request: ServiceRequest) -> None:
        asked = [Deferred.fromCoroutine(self._tag(target)) for target in _STATES.values()]
        tags = await gatherResults(asked, consumeErrors=True)
        body = encode(dict(zip(_STATES, tags, strict=True)))
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        status = NOT_MODIFIED if is_current(header(request, "if-none-match"), tag) else _OK
        written = whole(request, status, body, [(b"etag", tag.encode("ascii"))])
        if status == _OK and request.method != b"HEAD":
            request.write(written)
        request.finish()

    async def _tag(self, target: bytes) -> str:
        """Return the entity tag of a resource; without one, a hash of its content.

        :raises RestError: if the proxy does not answer with 200.
        """
        response = await self._upstream.ask(target)
        body = await treq.content(response)
        if response.code != _OK:
            raise RestError(502, "proxy_refused", f"The proxy refuses: {body[:300]!r}")
        given: Any = response.headers.getRawHeaders(b"etag")
        return str(given[0].decode("latin-1")) if given else hashlib.sha256(body).hexdigest()[:12]

    def _failed(self, failure: Failure, request: ServiceRequest) -> None:
        """Answer with an error; if the response has begun, close the connection."""
        if isinstance(failure.value, FirstError):
            failure = failure.value.subFailure
        if failure.check(CancelledError):
            return
        if request.startedWriting:
            self.log.info("An answer of the proxy broke off: {why}", why=failure.getErrorMessage())
            request.loseConnection()
            return
        refused = self._upstream.explain(failure)
        for name in _PASSED_ON:
            request.responseHeaders.removeHeader(name)
        body = request.broken(failure) if refused is INTERNAL else error(request, refused)
        if request.method != b"HEAD":
            request.write(body)
        request.finish()


def _prepare(request: ServiceRequest, response: IResponse) -> None:
    """Copy status and the relevant headers of the proxy's response."""
    request.setResponseCode(response.code, response.phrase)
    request.setHeader(b"cache-control", b"no-store")
    for name in _PASSED_ON:
        for value in response.headers.getRawHeaders(name) or ():
            request.setHeader(name, value)
    if response.code == NOT_MODIFIED:
        return
    request.setHeader(b"content-type", b"application/json")
    if isinstance(response.length, int):
        request.setHeader(b"content-length", b"%d" % response.length)


def _picked(request: ServiceRequest) -> Headers:
    """Return the headers of a page's request to forward, without cookies and others."""
    given = request.requestHeaders.getAllRawHeaders()
    return Headers({name: values for name, values in given if name.lower() in _ASKED})
