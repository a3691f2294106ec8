"""Changes httplib2, which Google's clients use; its connections are those of ``http.client``."""

from __future__ import annotations

from trafficmock_preload.clients.http_client_change import OWN_ERROR
from trafficmock_preload.failure_errors import of_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels


def change_httplib2(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Open tunnels where httplib2 connects to a server directly, or through trafficmock's proxy."""
    names: Any = module.__dict__
    for name in ("HTTPConnectionWithTimeout", "HTTPSConnectionWithTimeout"):
        _change(names[name], tunnels, names["ServerNotFoundError"])


def _change(connection_class: Any, tunnels: Tunnels, name_error: Any) -> None:
    original = connection_class.connect
    is_secure = "HTTPS" in connection_class.__name__

    def connect(self: Any) -> None:
        if _has_proxy(self, tunnels) or not tunnels.wants(self.host, self.port):
            original(self)
            return
        opened = tunnels.open_socket((self.host, self.port), self.timeout)
        self.sock = opened
        if is_secure:
            self.sock = self._context.wrap_socket(opened, server_hostname=self.host)

    # The base of the library's errors; it repeats a request after others.
    base = name_error.__base__

    def own_error(self: Any, error: Exception) -> Exception:
        import socket

        if isinstance(error, socket.gaierror):
            return name_error(f"Unable to find the server at {self.host}")  # type: ignore[no-any-return]
        return of_library(error, base)

    connection_class.connect = connect
    setattr(connection_class, OWN_ERROR, own_error)


def _has_proxy(connection: Any, tunnels: Tunnels) -> bool:
    """Return whether a connection goes through a proxy other than trafficmock's."""
    proxy = connection.proxy_info
    if not proxy or not proxy.isgood() or not proxy.applies_to(connection.host):
        return False
    return not tunnels.is_proxy_url(f"http://{proxy.proxy_host}:{proxy.proxy_port}")
