"""The context of a test: an id on its requests, which tells the proxy whose they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

from attrs import frozen
from msgspec import UNSET

from trafficmock.testing.errors import RoutingError, UsageError
from trafficmock.wire.http_syntax import CONTEXT_COOKIE, CONTEXT_MEMBER
from trafficmock.wire.outbound import TestRegistered
from trafficmock.wire.payloads.application_origins import ApplicationOrigins

Isolation = Literal["auto", "off", "required"]
ISOLATIONS: tuple[Isolation, ...] = ("auto", "off", "required")

_WILDCARD = re.compile(r"[*?]")
_DEFAULT_PORT = re.compile("(http:.*):80$|(https:.*):443$")

_UNCLAIMED = "none"
"""The cookie's value for a test without a context; no test has this context."""


@frozen
class TrafficContext:
    """The context of one test, as headers and as a cookie.

    :param id: 32 lower-case hexadecimal characters; ``None`` for a test without a context.
    """

    id: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers of W3C Baggage and W3C Trace Context; empty without a context."""
        if self.id is None:
            return {}
        return {
            "baggage": f"{CONTEXT_MEMBER}={self.id}",
            # The id of the parent span: any 16 hexadecimal characters.
            "traceparent": f"00-{self.id}-{self.id[16:]}-01",
        }

    @property
    def cookie(self) -> dict[str, Any]:
        """The cookie, with the keys of WebDriver and Playwright."""
        return {
            "name": CONTEXT_COOKIE,
            "value": self.id or _UNCLAIMED,
            "path": "/",
            "httpOnly": True,
            "sameSite": "Lax",
        }

    def cookies_for(self, origins: Sequence[str]) -> list[dict[str, Any]]:
        """Return cookies for Playwright's ``add_cookies``, one for each origin.

        :param origins: URLs of the application; patterns with wildcards are left out.
        :returns: empty for a test without a context.
        """
        if self.id is None:
            return []
        rest = {key: value for key, value in self.cookie.items() if key != "path"}
        return [{**rest, "url": origin} for origin in origins if not _WILDCARD.search(origin)]


def origins_of(urls: Sequence[str]) -> list[str]:
    """Return the origins of URLs or URL globs, without default ports."""
    origins = ("/".join(url.split("/", 3)[:3]) for url in urls)
    return [_DEFAULT_PORT.sub(r"\1\2", origin) for origin in origins]


def authorities_of(urls: Sequence[str]) -> list[str]:
    """Return host and port of URLs or URL globs, or the host alone; default ports are left out."""
    return [origin.partition("://")[2] for origin in origins_of(urls)]


def application_of(origins: Sequence[str], base_url: str | None) -> ApplicationOrigins:
    """Return what the application is for the browser proxy.

    If the base URL alone says where the application is, it may have other ports as well.
    """
    named = origins_of(origins)
    base = origins_of((base_url,)) if base_url else []
    return ApplicationOrigins(named, hosts_under_test=bool(named) and named == base)


def check_isolation(isolation: str) -> None:
    """Check the argument ``isolation``.

    :raises UsageError: it is not one of :data:`ISOLATIONS`.
    """
    if isolation not in ISOLATIONS:
        raise UsageError(f"isolation is one of {', '.join(ISOLATIONS)}, not {isolation!r}")


def browser_proxy(
    registered: TestRegistered | None, proxy_url: str, token: str | None
) -> dict[str, str] | None:
    """Return the browser proxy of a test as Playwright's ``proxy``; ``None`` without one.

    :param registered: the acknowledgement of the test, if it has come.
    :param proxy_url: the URL of the service.
    :param token: its token, if it wants one.
    :raises RoutingError: the service could not open the browser proxy.
    """
    if registered is None:
        return None
    if registered.browser_proxy_error is not UNSET:
        raise RoutingError(
            f"{_NO_BROWSER_PROXY}: {registered.browser_proxy_error}. {_BROWSER_PROXY_REMEDY}",
            code="internal",
        )
    if registered.browser_proxy_port is UNSET:
        return None
    credentials = {} if token is None else {"username": "browser", "password": token}
    host = urlsplit(proxy_url).hostname or ""
    host = f"[{host}]" if ":" in host else host
    return {"server": f"http://{host}:{registered.browser_proxy_port}", **credentials}


_NO_BROWSER_PROXY = "the service could not open a port for this test's browser"
_BROWSER_PROXY_REMEDY = (
    "Each test with a browser has one until its end. Let fewer of them run at the same time, or "
    "let the service open more files (ulimit -n)."
)
