"""Parses request targets into server, path and the URL that tests see."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import ada_url
from attrs import field, frozen
from msgspec import Struct

from trafficmock.http.bounded_cache import cached_by_text
from trafficmock.http.hosts import DEFAULT_PORTS, Authority, parse_authority
from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.proxy.http1.server_demands import ServerDemands
from trafficmock.wire.payloads.quiet_repr import quiet_repr

_SCHEMES = {b"http": "http", b"https": "https", b"ws": "http", b"wss": "https"}
_ABSOLUTE = re.compile(rb"([A-Za-z][A-Za-z0-9+.-]*)://([^/?]*)((?:/[^?]*)?)((?:\?.*)?)")
_SEGMENT = r"[A-Za-z0-9\-_~!$&()*+,;=:@%][A-Za-z0-9\-._~!$&()*+,;=:@%]*"
_PLAIN_PATH = re.compile(
    rf"/(?:{_SEGMENT}(?:/{_SEGMENT})*/?)?(?:\?[A-Za-z0-9\-._~!$&()*+,;=:@%/?]*)?"
)
"""Paths that the URL parser would not change.

Segments are separated by exactly one slash, so that there is one way to match a path. With
several ways, a path that does not match would take exponential time.
"""


@frozen(cache_hash=True)
class Origin:
    """Scheme, host and port of a server, the key of the connection pool.

    :param host: lower case, IPv6 without its brackets.
    :param demands: how the server is verified; ``None`` as the service's options say.
    """

    scheme: str
    host: str
    port: int
    demands: ServerDemands | None = None
    authority: str = field(init=False, eq=False)
    """Host and port as in URLs and in ``Host``, without the default port."""

    def __attrs_post_init__(self) -> None:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == DEFAULT_PORTS[self.scheme]
        object.__setattr__(self, "authority", host if usual else f"{host}:{self.port}")

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


class Target(Struct, frozen=True):
    """The server and path of a request.

    :param path: path and query as the client wrote them, for the request line.
    :param url: the absolute URL as a URL parser writes it (WHATWG URL), for tests and the history.
    """

    origin: Origin
    path: bytes
    url: str

    __repr__ = quiet_repr


def absolute(target: bytes, method: bytes = b"GET") -> Target:
    """Read a target in absolute form (RFC 9112 section 3.2.2).

    :raises BadMessageError: if it is not a URL, or its scheme is not http, https, ws or wss.
    """
    found = _ABSOLUTE.fullmatch(target)
    if found is None:
        raise BadMessageError("The request target is neither an absolute URL nor a path.")
    scheme = _SCHEMES.get(found[1].lower())
    if scheme is None:
        raise BadMessageError("Only http and https URLs go through this proxy.")
    origin = _ORIGINS[scheme](found[2])
    if method == b"OPTIONS" and not found[3] and not found[4]:
        return Target(origin, b"*", f"{origin}/")
    return on(origin, (found[3] or b"/") + found[4])


def on(origin: Origin, path: bytes) -> Target:
    """Make the target of ``path``, in origin form (RFC 9112 section 3.2.1), on a known server."""
    text = path.decode("ascii")
    url = f"{origin.scheme}://{origin.authority}{text}"
    if _PLAIN_PATH.fullmatch(text) is None or "%2e" in text.lower():
        url = _normal(url)
    return Target(origin, path, url)


def read_origin(scheme: str, authority: bytes) -> Origin:
    """Read the authority of a URL.

    :raises BadMessageError: if it is not ``host[:port]``.
    """
    if b"@" in authority:
        raise BadMessageError(
            "The URL names a user; send an Authorization header instead (RFC 9110 section 4.2.4)."
        )
    found = parse_authority(authority.decode("latin-1"))
    if found is None or found.port == 0:
        raise BadMessageError("The authority of the request target is not host[:port].")
    return Origin(scheme, found.host, found.port or DEFAULT_PORTS[scheme])


_ORIGINS: dict[str, Callable[[bytes], Origin]] = {
    scheme: cached_by_text(maxsize=1024)(partial(read_origin, scheme))
    for scheme in ("http", "https")
}
"""Reads the authority of a URL, by the scheme."""


def connect_authority(target: bytes) -> Authority:
    """Read the target of CONNECT (RFC 9112 section 3.2.3).

    :raises BadMessageError: if it is not ``host:port``.
    """
    found = parse_authority(target.decode("latin-1"))
    if found is None or not found.port:
        raise BadMessageError("CONNECT wants host:port as its target.")
    return found


@cached_by_text(maxsize=256)
def _normal(url: str) -> str:
    try:
        return str(ada_url.URL(url).href)
    except ValueError:
        return url
