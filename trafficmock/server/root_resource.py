"""The root resource: checks ``Host``, and passes each request to its resource."""

import re

from attrs import define
from twisted.web.resource import IResource

from trafficmock.http.access import AccessPolicy
from trafficmock.http.checked_root import CheckedRoot, bound_host, check, host_of
from trafficmock.http.http_limits import ConnectionCount
from trafficmock.http.responses import NOT_FOUND, WRONG_METHOD, RestError, header
from trafficmock.http.service_request import ServiceRequest
from trafficmock.server.rest.path_segments import is_plain_path

WEBSOCKET_PATH = b"/ws"

_NO_UPGRADE = RestError(
    426,
    "upgrade_required",
    "This is the coordinator's WebSocket: connect with a WebSocket client that speaks protocol 3.",
    headers=[(b"upgrade", b"websocket"), (b"connection", b"upgrade")],
)
_GET_ONLY = RestError(
    405, "method_not_allowed", "Only GET opens a WebSocket.", headers=[(b"allow", b"GET, HEAD")]
)
_ANY_ABSOLUTE = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://")
_UNAVAILABLE = RestError(
    501,
    "forward_proxy_unavailable",
    "This connection began with a request for this service itself. Open another one for what "
    "goes through the forward proxy.",
    headers=[(b"connection", b"close")],
)
_BAD_TARGET = RestError(400, "bad_request", "The request target must be a path that begins with /.")


@define(eq=False)
class RootResource(CheckedRoot):
    """Passes requests to the coordinator's WebSocket, or to REST.

    :param guard: decides which hosts, origins and peers are allowed.
    :param rest: answers all requests but those of the others.
    :param websocket: takes over an upgraded connection; its protocol has ``when_lost``, as
        :class:`~trafficmock.server.websocket.autobahn_protocol.AutobahnProtocol` has.
    :param connections: counts an upgraded connection until its end.
    """

    _guard: AccessPolicy
    _rest: IResource
    _websocket: IResource
    _connections: ConnectionCount

    def choose(self, request: ServiceRequest) -> bytes | int:
        """Check the host, then render the resource of the target.

        :raises RestError: if the request is refused.
        """
        host = host_of(request)
        if not request.path.startswith(b"/") and request.uri != b"*":
            own = self._guard.service.own_path(request.uri, request.getHost())
            if own is None:
                raise _refusal_of(request)
            host, request.path = own
            request.postpath = request.path.split(b"/")
        check(self._guard.host_refusal(host, bound_host(request)))
        if request.path == WEBSOCKET_PATH:
            return self._coordinator(request, host)
        if not is_plain_path(request.path):
            raise NOT_FOUND
        if request.method != request.method.upper():
            # Methods are case-sensitive (RFC 9110 section 9.1), but not for Klein's router.
            raise WRONG_METHOD
        answer: bytes | int = self._rest.render(request)
        return answer

    def _coordinator(self, request: ServiceRequest, host: str | None) -> bytes | int:
        if request.method == b"OPTIONS":
            raise NOT_FOUND
        if request.method not in (b"GET", b"HEAD"):
            raise _GET_ONLY
        if not _wants_websocket(request):
            raise _NO_UPGRADE
        check(self._guard.websocket_origin_refusal(header(request, "origin"), host))
        return self._upgrade(request)

    def _upgrade(self, request: ServiceRequest) -> bytes | int:
        """Hand the connection to the WebSocket protocol, with the bytes behind the handshake.

        The channel, which counts the connection, is replaced and does not notice its end. So the
        new protocol reports the end to the count.
        """
        channel, transport = request.channel, request.channel.transport
        channel.hand_over()
        early = channel.clearLineBuffer()
        answer: bytes | int = self._websocket.render(request)
        if transport.protocol is not channel:
            transport.protocol.when_lost(self._connections.leave)
            if early:
                transport.protocol.dataReceived(early)
        return answer


def _refusal_of(request: ServiceRequest) -> RestError:
    """Return the error for a target that is neither a path nor the service in absolute form."""
    is_forward = request.method == b"CONNECT" or _ANY_ABSOLUTE.match(request.uri)
    return _UNAVAILABLE if is_forward else _BAD_TARGET


def _wants_websocket(request: ServiceRequest) -> bool:
    """Return whether a request is an opening handshake (RFC 6455 section 4.2.1)."""
    return (
        request.method == b"GET"
        and request.clientproto == b"HTTP/1.1"
        and "websocket" in _tokens(request, "upgrade")
        and "upgrade" in _tokens(request, "connection")
    )


def _tokens(request: ServiceRequest, name: str) -> list[str]:
    return [token.strip().lower() for token in (header(request, name) or "").split(",")]
