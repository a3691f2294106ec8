"""Changes Twisted's ``Agent``, which treq uses."""

from __future__ import annotations

from trafficmock_preload.failure_errors import HEADER, failure_error, is_malformed, of_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContext, TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_IS_READ = "_trafficmock_is_read"
"""The attribute of protocols in tunnels that the proxy reads."""


def change_agent(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Open tunnels where an ``Agent`` connects to servers directly."""
    _change_pool(module.__dict__["HTTPConnectionPool"], contexts)
    factory: Any = module.__dict__["_StandardEndpointFactory"]
    original = factory.endpointForURI

    def endpointForURI(self: Any, uri: Any) -> Any:
        endpoint = original(self, uri)
        if not tunnels.wants(uri.host, uri.port):
            return endpoint
        from trafficmock_preload.clients.twisted_endpoint import TunnelEndpoint

        policy = self._policyForHTTPS
        creator = (
            policy.creatorForNetloc(uri.host, uri.port)
            if uri.scheme in {b"https", b"wss"}
            else None
        )
        return TunnelEndpoint(
            self._reactor,
            tunnels,
            host=uri.host,
            port=uri.port,
            creator=creator,
            seconds=self._connectTimeout,
            mark=lambda protocol: setattr(protocol, _IS_READ, True),
        )

    factory.endpointForURI = endpointForURI


def _change_pool(pool: Any, contexts: TestContexts) -> None:
    """Keep the context of a request while the reactor opens its connection."""
    original = pool.getConnection

    def getConnection(self: Any, key: Any, endpoint: Any) -> Any:
        connected, context = original(self, key, endpoint), contexts.current()
        if context is None:
            return connected
        return connected.addCallback(CarryingConnection, context, contexts)

    pool.getConnection = getConnection


class CarryingConnection:
    """A connection that sends its request in a context."""

    def __init__(self, connection: Any, context: TestContext, contexts: TestContexts) -> None:
        self._connection = connection
        self._context = context
        self._contexts = contexts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def request(self, sent: Any) -> Any:
        """Send a request in the context."""
        before = self._contexts.enter(self._context)
        try:
            return self._connection.request(sent)
        finally:
            self._contexts.enter(before)


def change_protocol(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Add the context to each request, and raise failures that the proxy reports."""
    protocol_class: Any = module.__dict__["HTTP11ClientProtocol"]
    original = protocol_class.request

    def request(self: Any, sent: Any) -> Any:
        if not getattr(self, _IS_READ, False):
            return original(self, sent)
        headers = sent.headers
        sent.headers = headers.copy()
        for name, value in contexts.outgoing():
            sent.headers.addRawHeader(name, value)
        try:
            # The header is written before original() returns; the Agent may send the same
            # request object again.
            return original(self, sent).addCallbacks(
                _checked, _lost, callbackArgs=(self,), errbackArgs=(tunnels,)
            )
        finally:
            sent.headers = headers

    protocol_class.request = request


def _checked(response: Any, protocol: Any) -> Any:
    values = response.headers.getRawHeaders(HEADER)
    if not values:
        return response
    protocol.abort()
    raise _own_error(failure_error(values[0]))


def _lost(failure: Any, tunnels: Tunnels) -> Any:
    """Raise an error that names the proxy, if the proxy has ended."""
    from twisted.internet.error import ConnectionDone, ConnectionLost
    from twisted.python.failure import Failure
    from twisted.web._newclient import ResponseNeverReceived

    failure.trap(ResponseNeverReceived)
    found = [reason.check(ConnectionDone, ConnectionLost) for reason in failure.value.reasons]
    kind = next(filter(None, found), None)
    if kind is None or not tunnels.has_ended():
        return failure
    raise ResponseNeverReceived([Failure(kind(tunnels.unanswered))]) from failure.value


def _own_error(error: Exception) -> Exception:
    """Make the error that Twisted raises for an error of the network, or for a refused request.

    A refused one is a ``ResponseFailed``, and not one after which a pool sends a request again.
    """
    import errno
    import socket

    from twisted.internet import error as network
    from twisted.python.failure import Failure
    from twisted.web._newclient import ParseError, ResponseFailed, ResponseNeverReceived

    if not isinstance(error, OSError):
        refused: Any = of_library(error, ResponseFailed)
        refused.reasons = [Failure(error)]
        return refused  # type: ignore[no-any-return]
    made: Exception
    if isinstance(error, TimeoutError):
        made = network.TCPTimedOutError(error.errno, error.strerror)
    elif isinstance(error, socket.gaierror):
        made = network.DNSLookupError(str(error))
    elif error.errno == errno.ECONNREFUSED:
        made = network.ConnectionRefusedError(error.errno, error.strerror)
    elif error.errno == errno.EHOSTUNREACH:
        made = network.NoRouteError(error.errno, error.strerror)
    elif is_malformed(error):
        made = ResponseFailed([Failure(ParseError(error.strerror, b""))])
    else:
        made = ResponseNeverReceived([Failure(network.ConnectionLost(str(error)))])
    made.__cause__ = error
    return made
