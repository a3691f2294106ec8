"""Changes the threading client of websockets, with functions for its other clients."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

from trafficmock_preload.failure_errors import HEADER, failure_error, is_before_request, of_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_connects_to_proxy: ContextVar[bool] = ContextVar("trafficmock_connects_to_proxy", default=False)


def change_sync(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Open tunnels where the client connects to a server directly, and add the context."""
    names: Any = module.__dict__
    names["socket"] = TunnelSockets(names["socket"], tunnels)
    leave_out_proxy(names, tunnels)
    if "connect_http_proxy" in names:
        names["connect_http_proxy"] = _to_proxy(names["connect_http_proxy"])
    connection_class = names["ClientConnection"]
    original = connection_class.handshake

    def handshake(self: Any, *args: Any, **kwargs: Any) -> None:
        if tunnels.authority_of(self.socket) is None:
            original(self, *args, **kwargs)
            return
        with own_errors(), named_context(self, contexts):
            original(self, *args, **kwargs)

    connection_class.handshake = handshake


def leave_out_proxy(names: Any, tunnels: Tunnels) -> None:
    """Remove trafficmock's proxy from those of the environment, which version 15 and later use."""
    original = names.get("get_proxy")
    if original is None:
        return

    def get_proxy(uri: Any) -> Any:
        found = original(uri)
        return None if tunnels.is_proxy_url(found) else found

    names["get_proxy"] = get_proxy


def _to_proxy(original: Callable[..., Any]) -> Callable[..., Any]:
    """Mark the connection to a proxy of the application's own, which is not a tunnel."""

    def connect_http_proxy(*args: Any, **kwargs: Any) -> Any:
        token = _connects_to_proxy.set(True)
        try:
            return original(*args, **kwargs)
        finally:
            _connects_to_proxy.reset(token)

    return connect_http_proxy


class TunnelSockets:
    """Replaces the module ``socket`` in the library: its connections are tunnels."""

    def __init__(self, module: ModuleType, tunnels: Tunnels) -> None:
        self._module = module
        self._tunnels = tunnels

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def create_connection(
        self, address: tuple[str, int], timeout: float | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Open a tunnel; a direct connection to hosts that do not go through the proxy."""
        if _connects_to_proxy.get() or not self._tunnels.wants(*address[:2]):
            return self._module.create_connection(address, timeout, *args, **kwargs)
        return self._tunnels.open_socket(address, timeout)


@contextmanager
def named_context(connection: Any, contexts: TestContexts) -> Iterator[None]:
    """Add the context to the handshake that is sent, but not to ``connection.request``."""
    protocol = connection.protocol
    original = protocol.send_request

    def send_request(request: Any) -> None:
        headers = request.headers
        request.headers = with_context(headers, contexts)
        try:
            original(request)
        finally:
            request.headers = headers

    protocol.send_request = send_request
    try:
        yield
    finally:
        del protocol.send_request


def with_context(headers: Any, contexts: TestContexts) -> Any:
    """Return a copy of a handshake's headers with the context."""
    copied = headers.copy()
    for name, value in contexts.outgoing():
        # Assignment adds a line, in the library's own mapping.
        copied[name] = value
    return copied


@contextmanager
def own_errors() -> Iterator[None]:
    """Raise a failure that the proxy reports, instead of the error for its response."""
    try:
        yield
    except Exception as error:
        response = getattr(error, "response", error)
        headers = getattr(response, "headers", None)
        failure = None if headers is None else headers.get(HEADER)
        if failure is None:
            raise
        raise _own_error(failure_error(failure)) from None


def _own_error(error: Exception) -> Exception:
    """Make the library's error for a connection that is lost during the handshake."""
    from websockets.exceptions import InvalidMessage, WebSocketException

    if not isinstance(error, OSError) or is_before_request(error):
        return of_library(error, WebSocketException)
    made = InvalidMessage("did not receive a valid HTTP response")
    made.__cause__ = error
    return made
