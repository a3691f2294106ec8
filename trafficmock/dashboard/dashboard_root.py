"""The dashboard's one resource: who may come in, and who answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from twisted.web.resource import IResource
from twisted.web.server import NOT_DONE_YET
from zope.interface import implementer

from trafficmock.http.cors import origin_allowed
from trafficmock.http.etags import is_current
from trafficmock.http.hosts import parse_authority, parse_origin
from trafficmock.http.responses import NOT_FOUND, RestError, encode, error, header, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trafficmock.dashboard.proxy_relay import ProxyRelay
    from trafficmock.dashboard.static_files import Page
    from trafficmock.http.access import AccessPolicy
    from trafficmock.http.service_request import ServiceRequest

POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    b"img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the pages may do (CSP): nothing that was recorded can run or call out."""

PAGE_SAFETY: Mapping[bytes, bytes] = {
    b"content-security-policy": POLICY,
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
}
"""Stands on every answer but JSON. There are no CORS headers: only our own pages may read."""

DATA_SAFETY: Mapping[bytes, bytes] = {
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"cross-origin-resource-policy": b"same-origin",
}
"""Stands on JSON; polls are many, so it is short."""

_API = b"/api/"
_STATE = b"/state"
_PROXY_HEALTH = b"/proxy/health"
_GET_ONLY = RestError(
    405,
    "method_not_allowed",
    "The dashboard only shows: use GET.",
    headers=[(b"allow", b"GET, HEAD")],
)
_ONE_HOST = RestError(400, "bad_request", "HTTP/1.1 wants exactly one Host header.")
_FOREIGN = RestError(
    403, "origin_not_allowed", "Pages of other origins may not read the dashboard."
)


@implementer(IResource)
@define(eq=False, kw_only=True)
class DashboardRoot:
    """Answers every request: a file, the proxy's word, or our own health.

    :param pages: files by path.
    :param relay: asks the proxy.
    :param guard: who may come in, by the rules of the proxy.
    :param version: of trafficmock.
    :param proxy_url: for the health.
    """

    isLeaf = True  # noqa: N815 - Twisted's name

    _pages: Mapping[str, Page]
    _relay: ProxyRelay
    _guard: AccessPolicy
    _version: str
    _proxy_url: str

    def getChildWithDefault(self, name: bytes, request: ServiceRequest) -> IResource:  # noqa: ARG002, N802 - Twisted's signature
        """Stay the only resource: paths are not walked."""
        return self

    def putChild(self, path: bytes, child: IResource) -> None:  # noqa: N802 - Twisted's signature
        """Refuse children."""
        raise NotImplementedError("the root resource has no children")

    def render(self, request: ServiceRequest) -> bytes | int:
        """Answer, or let the proxy answer."""
        page = self._pages.get(request.path.decode("latin-1"))
        for name, value in (DATA_SAFETY if page is None else PAGE_SAFETY).items():
            request.setHeader(name, value)
        try:
            self._admit(request)
            answer = self._choose(request) if page is None else _send(request, page)
        except RestError as refused:
            answer = error(request, refused)
        return b"" if request.method == b"HEAD" and isinstance(answer, bytes) else answer

    def _admit(self, request: ServiceRequest) -> None:
        hosts = request.requestHeaders.getRawHeaders(b"host", [])
        if len(hosts) > 1 or (not hosts and request.clientproto == b"HTTP/1.1"):
            raise _ONE_HOST
        host = header(request, "host")
        refusal = self._guard.host_refusal(host, getattr(request.getHost(), "host", None))
        if refusal is not None:
            raise RestError(refusal.status, refusal.code, refusal.message)
        origin = header(request, "origin")
        if origin is not None and not (origin_allowed(origin, ()) or _is_own(origin, host)):
            raise _FOREIGN
        if request.method not in (b"GET", b"HEAD"):
            raise _GET_ONLY

    def _choose(self, request: ServiceRequest) -> bytes | int:
        path = request.path
        if path.startswith(_API):
            self._admit_reader(request)
            self._relay.answer(request, request.uri)
            return NOT_DONE_YET
        if path == _STATE:
            self._admit_reader(request)
            self._relay.answer_state(request)
            return NOT_DONE_YET
        if path == _PROXY_HEALTH:
            self._relay.answer(request, b"/health")
            return NOT_DONE_YET
        if path == b"/health":
            return whole(request, 200, encode(self._health()))
        raise NOT_FOUND

    def _admit_reader(self, request: ServiceRequest) -> None:
        """Let those read the traffic who could read it at a proxy that listens where we do."""
        peer, bound = request.getClientAddress(), request.getHost()
        refusal = self._guard.history_refusal(
            getattr(peer, "host", None), getattr(bound, "host", None)
        )
        if refusal is not None:
            raise RestError(refusal.status, refusal.code, refusal.message)

    def _health(self) -> dict[str, object]:
        return {
            "ok": True,
            "service": "trafficmock-dashboard",
            "version": self._version,
            "proxyUrl": self._proxy_url,
        }


def _is_own(origin: str, host: str | None) -> bool:
    """Tell whether a page of ``origin`` is one of ours; ports count."""
    page = parse_origin(origin)
    here = None if host is None else parse_authority(host)
    if page is None or here is None:
        return False
    return page.host == here.host and page.port == (here.port or 80)


def _send(request: ServiceRequest, page: Page) -> bytes:
    tag = (b"etag", page.etag.encode("ascii"))
    if is_current(header(request, "if-none-match"), page.etag):
        body = whole(request, 304, b"", [tag])
    else:
        body = whole(request, 200, page.content, [tag, (b"content-type", page.content_type)])
    request.setHeader(b"cache-control", b"no-cache")  # keep it, and ask whether it is the newest
    return body
