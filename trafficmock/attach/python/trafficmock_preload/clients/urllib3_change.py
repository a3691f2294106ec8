"""Changes urllib3 1 and 2, and the copies of it in other libraries."""

from __future__ import annotations

from contextvars import ContextVar

from trafficmock_preload.clients.http_client_change import OWN_ERROR
from trafficmock_preload.failure_errors import is_before_request, of_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_opens_tunnel: ContextVar[bool] = ContextVar("trafficmock_opens_tunnel", default=False)


def change_urllib3(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Open tunnels where urllib3 connects to a server directly, and set its own error."""
    names: Any = module.__dict__
    connection_class, creation = names["HTTPConnection"], names["connection"]
    original, create = connection_class._new_conn, creation.create_connection
    change_fingerprints(names, tunnels)

    def new_conn(self: Any) -> Any:
        if getattr(self, "proxy", None) or self._tunnel_host:
            return original(self)
        if not tunnels.wants(self.host, self.port):
            return original(self)
        token = _opens_tunnel.set(True)
        try:
            made = original(self)
        finally:
            _opens_tunnel.reset(token)
        pin = getattr(self, "assert_fingerprint", None)
        if pin:
            tunnels.pins[made] = pin.replace(":", "").lower()
        return made

    def create_connection(address: Any, *args: Any, **kwargs: Any) -> Any:
        if _opens_tunnel.get():
            return tunnels.open_socket(address, *args, **kwargs)
        return create(address, *args, **kwargs)

    creation.create_connection = create_connection
    connection_class._new_conn = new_conn
    setattr(connection_class, OWN_ERROR, make_own_error(names))


def change_fingerprints(names: Any, tunnels: Tunnels) -> None:
    """Let the proxy compare fingerprints within tunnels that it reads."""
    name = next(
        (each for each in ("_assert_fingerprint", "assert_fingerprint") if each in names), None
    )
    if name is None:
        return
    original = names[name]

    def assert_fingerprint(certificate: Any, fingerprint: Any) -> None:
        if certificate is None or not tunnels.is_own(certificate):
            original(certificate, fingerprint)

    names[name] = assert_fingerprint


def make_own_error(names: Any) -> Any:
    """Make the function for :data:`OWN_ERROR`: urllib3's errors of connecting.

    urllib3 wraps other errors itself.
    """
    timeout_error, new_error = names["ConnectTimeoutError"], names["NewConnectionError"]
    name_error = names.get("NameResolutionError")
    # urllib3 does not repeat a request after its base class alone.
    base = next(each for each in new_error.__mro__ if each.__name__ == "HTTPError")

    def own_error(self: Any, error: Exception) -> Exception:
        import socket
        import ssl

        if not isinstance(error, OSError):
            return of_library(error, base)
        if isinstance(error, TimeoutError):
            text = f"Connection to {self.host} timed out. (connect timeout={self.timeout})"
            return timeout_error(self, text)  # type: ignore[no-any-return]
        if isinstance(error, socket.gaierror) and name_error is not None:
            return name_error(self.host, self, error)  # type: ignore[no-any-return]
        if isinstance(error, ssl.SSLError) or not is_before_request(error):
            return error
        return new_error(self, f"Failed to establish a new connection: {error}")  # type: ignore[no-any-return]

    return own_error
