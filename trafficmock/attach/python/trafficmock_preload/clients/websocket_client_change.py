"""Changes websocket-client, whose package is ``websocket``."""

from __future__ import annotations

from contextvars import ContextVar

from trafficmock_preload.failure_errors import HEADER, failure_error, of_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_lines: ContextVar[tuple[str, ...]] = ContextVar("trafficmock_lines", default=())
"""The header lines to add to the handshake that is being written."""


class TunnelTarget:
    """A server to reach by a tunnel; the library gets it in the place of a list of addresses."""

    def __init__(self, host: str, port: int) -> None:
        self.address = host, port


def change_connections(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Open tunnels where the library connects to a server, directly or by trafficmock's proxy."""
    names: Any = module.__dict__
    find_proxy, find, connect = (
        names[name] for name in ("get_proxy_info", "_get_addrinfo_list", "_open_socket")
    )

    def get_proxy_info(hostname: Any, is_secure: Any, proxy_host: Any = None, *more: Any) -> Any:
        found = find_proxy(hostname, is_secure, proxy_host, *more)
        if proxy_host or not found[0] or not tunnels.is_proxy_url(f"http://{found[0]}:{found[1]}"):
            return found
        return None, 0, None

    def get_addrinfo_list(hostname: Any, port: Any, is_secure: Any, proxy: Any) -> Any:
        # Before version 1.3 the attribute was "host".
        chosen = getattr(proxy, "proxy_host", None) or getattr(proxy, "host", None)
        if not chosen and tunnels.wants(hostname, port):
            found = get_proxy_info(hostname, is_secure, None, 0, None, proxy.no_proxy)
            if not found[0]:
                return [TunnelTarget(hostname, port)], False, None
        return find(hostname, port, is_secure, proxy)

    def open_socket(addresses: Any, options: Any, timeout: Any) -> Any:
        if not isinstance(addresses[0], TunnelTarget):
            return connect(addresses, options, timeout)
        wanted = [*names["DEFAULT_SOCKET_OPTION"], *options]
        return tunnels.open_socket(addresses[0].address, timeout, socket_options=wanted)

    names["get_proxy_info"] = get_proxy_info
    names["_get_addrinfo_list"] = get_addrinfo_list
    names["_open_socket"] = open_socket


def change_handshakes(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Add the context to each handshake, and raise failures that the proxy reports."""
    names: Any = module.__dict__
    original, make_headers = names["handshake"], names["_get_handshake_headers"]
    status_error = names["WebSocketBadStatusException"]

    def handshake(sock: Any, *args: Any, **kwargs: Any) -> Any:
        if tunnels.authority_of(sock) is None:
            return original(sock, *args, **kwargs)
        token = _lines.set(tuple(f"{name}: {value}" for name, value in contexts.outgoing()))
        try:
            return original(sock, *args, **kwargs)
        except status_error as error:
            failure = (error.resp_headers or {}).get(HEADER)
            if failure is None:
                raise
            raise _own_error(failure_error(failure)) from None
        finally:
            _lines.reset(token)

    def get_handshake_headers(*args: Any, **kwargs: Any) -> Any:
        lines, key = make_headers(*args, **kwargs)
        # The last two are empty: they end the header.
        lines[-2:-2] = _lines.get()
        return lines, key

    names["handshake"] = handshake
    names["_get_handshake_headers"] = get_handshake_headers


def _own_error(error: Exception) -> Exception:
    """Make the library's error for a refusal or an unknown host name; others are returned."""
    import socket

    from websocket import WebSocketAddressException, WebSocketException

    if not isinstance(error, socket.gaierror):
        return of_library(error, WebSocketException)

    made = WebSocketAddressException(error)
    made.__cause__ = error
    return made
