"""CORS headers: which web pages may read the REST API (WHATWG Fetch, "CORS protocol")."""

from collections.abc import Collection

from trafficmock.http.hosts import is_loopback, parse_origin

CorsHeaders = tuple[tuple[bytes, bytes], ...]

ANY_ORIGIN = "*"

_COMMON: CorsHeaders = (
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS"),
    (b"access-control-allow-headers", b"content-type"),
)
_OPEN: CorsHeaders = ((b"access-control-allow-origin", b"*"), *_COMMON)


def origin_allowed(origin: str, allowed: Collection[str]) -> bool:
    """Return whether pages of ``origin`` may use the service; those of loopback hosts may.

    :param origin: the ``Origin`` header.
    :param allowed: further origins, in lower case; ``*`` allows all.
    """
    if ANY_ORIGIN in allowed or origin.lower() in allowed:
        return True
    page = parse_origin(origin)
    return page is not None and is_loopback(page.host)


def cors_headers(origin: str | None, allowed: Collection[str]) -> CorsHeaders:
    """Return the CORS headers of a response on an API path.

    A request without ``Origin`` does not come from a page of another origin: the response allows
    all origins. The response to an allowed origin names that origin. Any other origin gets no CORS
    header, so that the browser withholds the response from the page.

    :param origin: the ``Origin`` header, ``None`` without it.
    :param allowed: further origins, in lower case; ``*`` allows all.
    :returns: pairs of lower-case name and value.
    """
    if origin is None or ANY_ORIGIN in allowed:
        return _OPEN
    if not origin_allowed(origin, allowed):
        return ()
    named = (b"access-control-allow-origin", origin.encode("latin-1"))
    return (named, (b"vary", b"Origin"), *_COMMON)
