"""Which pages may read the REST API (CORS, WHATWG Fetch)."""

from collections.abc import Collection

from trafficmock.http.hosts import is_loopback, parse_origin

Headers = tuple[tuple[bytes, bytes], ...]

ANY_ORIGIN = "*"

_COMMON: Headers = (
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS"),
    (b"access-control-allow-headers", b"content-type"),
)
_OPEN: Headers = ((b"access-control-allow-origin", b"*"), *_COMMON)


def origin_allowed(origin: str, allowed: Collection[str]) -> bool:
    """Tell whether a page of ``origin`` may come in.

    :param origin: the ``Origin`` header.
    :param allowed: further origins, in lower case; ``*`` allows all.
    """
    if ANY_ORIGIN in allowed or origin.lower() in allowed:
        return True
    page = parse_origin(origin)
    return page is not None and is_loopback(page.host)


def cors_headers(origin: str | None, allowed: Collection[str]) -> Headers:
    """Give the CORS headers of an answer on an API path.

    Without an ``Origin`` the answer is open to all, since no page asked. A loopback
    or allowed origin is named. Any other gets none, so that its page learns nothing.

    :param origin: the ``Origin`` header, ``None`` when there is none.
    :param allowed: further origins, in lower case; ``*`` opens the API to all.
    :returns: pairs of lower-case name and value.
    """
    if origin is None or ANY_ORIGIN in allowed:
        return _OPEN
    if not origin_allowed(origin, allowed):
        return ()
    named = (b"access-control-allow-origin", origin.encode("latin-1"))
    return (named, (b"vary", b"Origin"), *_COMMON)
