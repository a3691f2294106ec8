"""The root resource of the dashboard: its files, its health, and what the proxy answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from twisted.web.server import NOT_DONE_YET

from trafficmock.http.checked_root import CheckedRoot, bound_host, check, check_reader, host_of
from trafficmock.http.cors import origin_allowed
from trafficmock.http.etags import is_current
from trafficmock.http.hosts import parse_authority, parse_origin
from trafficmock.http.responses import NOT_FOUND, RestError, encode, header, whole

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
"""Headers of every answer but JSON; without CORS, only the dashboard's pages may read it."""

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
_FOREIGN = RestError(
    403, "origin_not_allowed", "Pages of other origins may not read the dashboard."
)


@define(eq=False, kw_only=True)
class DashboardRoot(CheckedRoot):
    """Answers every request: a file, what the proxy answers, or the health of the dashboard.

    :param pages: files by path.
    :param relay: asks the proxy.
    :param guard: who may come in, by the rules of the proxy.
    :param version: of trafficmock.
    :param proxy_url: for the health.
    """

    _pages: Mapping[str, Page]
    _relay: ProxyRelay
    _guard: AccessPolicy
    _version: str
    _proxy_url: str

    def choose(self, request: ServiceRequest) -> bytes | int:
        """Send a file, or let the proxy answer."""
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
    """Tell whether a page of ``origin`` is the dashboard's; ports count."""
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
