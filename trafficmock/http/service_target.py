"""Distinguishes requests to the service itself from forward-proxy requests, and refuses the latter.

The first request of a connection decides whether the forward proxy or the service's own HTTP server
handles the connection. Here are the requests of a connection that began with one to the service.
"""

import re

from attrs import frozen
from twisted.web.iweb import IRequest

from trafficmock.http.access import AccessPolicy
from trafficmock.http.hosts import parse_authority
from trafficmock.http.responses import RestError, error

_ABSOLUTE = re.compile(
    r"http://(?:[^/?#@]*@)?(?P<authority>[^/?#@]+)(?P<path>/[^?]*)?(?:\?.*)?", re.IGNORECASE
)
_ANY_ABSOLUTE = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://")
_HTTP_PORT = 80

_UNAVAILABLE = RestError(
    501,
    "forward_proxy_unavailable",
    "This connection began with a request for this service itself. Open another one for what "
    "goes through the forward proxy.",
    headers=[(b"connection", b"close")],
)
_BAD_TARGET = RestError(400, "bad_request", "The request target must be a path that begins with /.")


def service_target(
    uri: bytes, guard: AccessPolicy, bound_host: str | None, bound_port: int | None
) -> tuple[str, bytes] | None:
    """Parse a request target in absolute form that names this service.

    :param uri: the request target as sent.
    :param guard: knows the hosts of this service.
    :param bound_host: the local address of the connection, ``None`` for a UNIX socket.
    :param bound_port: the local port of the connection.
    :returns: the authority, which replaces ``Host`` (RFC 9112 section 3.2.2), and the path;
        ``None`` for other servers and other forms of the target.
    """
    found = _ABSOLUTE.fullmatch(uri.decode("latin-1"))
    authority = None if found is None else parse_authority(found["authority"])
    if found is None or authority is None:
        return None
    if (authority.port or _HTTP_PORT) != bound_port:
        return None
    if not guard.is_this_service(authority.host, bound_host):
        return None
    return found["authority"], (found["path"] or "/").encode("latin-1")


@frozen
class ForwardRefusal:
    """A resource that refuses requests to other servers, on a connection to the service."""

    def render(self, request: IRequest) -> bytes | int:
        """Respond with 501 to a forward-proxy request, else with 400 (the target is no path)."""
        absolute = request.method == b"CONNECT" or _ANY_ABSOLUTE.match(request.uri)
        return error(request, _UNAVAILABLE if absolute else _BAD_TARGET)
