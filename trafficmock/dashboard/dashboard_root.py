"""The root resource of the dashboard: its files, its health, and responses of the proxy."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define
from twisted.web.server import NOT_DONE_YET

from trafficmock.dashboard.proxy_relay import ProxyRelay
from trafficmock.dashboard.static_files import Page
from trafficmock.http.access import AccessPolicy
from trafficmock.http.checked_root import CheckedRoot, bound_host, check, check_reader, host_of
from trafficmock.http.cors import origin_allowed
from trafficmock.http.etags import is_current
from trafficmock.http.hosts import parse_authority, parse_origin
from trafficmock.http.responses import NOT_FOUND, RestError, encode, header, whole
from trafficmock.http.service_request import ServiceRequest

POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    b"img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content Security Policy of pages: recorded content can neither run nor send requests."""

PAGE_SAFETY: Mapping[bytes, bytes] = {
    b"content-security-policy": POLICY,
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
}
"""Headers of files. Without CORS, only pages of the dashboard can read them."""

DATA_SAFETY: Mapping[bytes, bytes] = {
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"cross-origin-resource-policy": b"same-origin",
}
"""Headers of JSON; they are few, because pages poll often."""

_API = b"/api/"
_STATE = b"/state"
_PROXY_HEALTH = b"/proxy/health"
_GET_ONLY = RestError(
    405,
    "method_not_allowed",
    "The dashboard only shows: use GET.",
    headers=[(b"allow", b"GET, HEAD")],
)
_FOREIGN = RestError(
    403, "origin_not_allowed", "Pages of other origins may not read the dashboard."
)


@define(eq=False, kw_only=True)
class DashboardRoot(CheckedRoot):
    """Answers requests with a file, a response of the proxy, or the dashboard's health.

    :param pages: files by path.
    :param relay: answers with responses of the proxy.
    :param guard: decides which hosts and peers are allowed, by the rules of the proxy.
    :param version: the version of trafficmock.
    :param proxy_url: the proxy's URL, for the health.
    """

    _pages: Mapping[str, Page]
    _relay: ProxyRelay
    _guard: AccessPolicy
    _version: str
    _proxy_url: str

    def choose(self, request: ServiceRequest) -> bytes | int:
        """Answer a request.

        :raises RestError: if the request is refused, or there is no such path.
        """
        page = self._pages.get(request.path.decode("latin-1"))
        for name, value in (DATA_SAFETY if page is None else PAGE_SAFETY).items():
            request.setHeader(name, value)
        self._admit(request)
        return self._answer(request) if page is None else _send(request, page)

    def _admit(self, request: ServiceRequest) -> None:
        host = host_of(request)
        check(self._guard.host_refusal(host, bound_host(request)))
        origin = header(request, "origin")
        if origin is not None and not (origin_allowed(origin, ()) or _is_own(origin, host)):
            raise _FOREIGN
        if request.method not in (b"GET", b"HEAD"):
            raise _GET_ONLY

    def _answer(self, request: ServiceRequest) -> bytes | int:
        path = request.path
        if path.startswith(_API):
            check_reader(self._guard, request)
            self._relay.answer(request, request.uri)
            return NOT_DONE_YET
        if path == _STATE:
            check_reader(self._guard, request)
            self._relay.answer_state(request)
            return NOT_DONE_YET
        if path == _PROXY_HEALTH:
            self._relay.answer(request, b"/health")
            return NOT_DONE_YET
        if path == b"/health":
            return whole(request, 200, encode(self._health()))
        raise NOT_FOUND

    def _health(self) -> dict[str, object]:
        return {
            "ok": True,
            "service": "trafficmock-dashboard",
            "version": self._version,
            "proxyUrl": self._proxy_url,
        }


def _is_own(origin: str, host: str | None) -> bool:
    """Return whether an origin is that of the dashboard, port included."""
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
    request.setHeader(b"cache-control", b"no-cache")  # store it, and revalidate it by the ETag
    return body
