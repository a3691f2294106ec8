"""Changes the trio client of websockets (version 17 and later)."""

from __future__ import annotations

from contextlib import contextmanager
from weakref import WeakKeyDictionary

from trafficmock_preload.clients.websockets_change import (
    leave_out_proxy,
    named_context,
    own_errors,
)
from trafficmock_preload.demanded_trust import demand_lines
from trafficmock_preload.failure_errors import IS_TOLD
from trafficmock_preload.proxy_tunnel import MOST_BYTES, TunnelAnswer
from trafficmock_preload.tunnel_trust import trusting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_read: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()
"""The proxy's authority by stream, of tunnels that it reads."""


def change_trio(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Open tunnels where the client connects to a server directly, and add the context."""
    names: Any = module.__dict__
    leave_out_proxy(names, tunnels)
    connect, connection_class = names["connect"], names["ClientConnection"]
    open_stream, enable_tls = connect.open_tcp_stream, connect.enable_tls
    handshake = connection_class.handshake

    async def open_tcp_stream(self: Any) -> Any:
        given, uri = self.open_tcp_stream_kwargs, self.ws_uri
        host, port = given.get("host", uri.host), given.get("port", uri.port)
        proxy = names["get_proxy"](uri) if self.proxy is True else self.proxy
        if proxy is not None or given.get("unix") or not tunnels.wants(host, port):
            return await open_stream(self)
        demands = demand_lines(self.ssl) if uri.secure else b""
        return await _open_tunnel(host, port, tunnels, demands)

    async def enabled(self: Any, stream: Any) -> Any:
        authority = _read.get(stream)
        if authority is None:
            return await enable_tls(self, stream)
        given = self.ssl
        self.ssl = trusting(authority, given)
        try:
            return await enable_tls(self, stream)
        finally:
            self.ssl = given

    async def shaken(self: Any, *args: Any, **kwargs: Any) -> None:
        stream = getattr(self.stream, "transport_stream", self.stream)
        if stream not in _read:
            await handshake(self, *args, **kwargs)
            return
        uri = self.protocol.uri
        with _connecting(uri.host, uri.port), own_errors(), named_context(self, contexts):
            await handshake(self, *args, **kwargs)

    connect.open_tcp_stream = open_tcp_stream
    connect.enable_tls = enabled
    connection_class.handshake = shaken


async def _open_tunnel(host: str, port: int, tunnels: Tunnels, demands: bytes) -> Any:
    """Open a tunnel as a trio stream.

    :raises OSError: if the proxy cannot be reached, or refuses the tunnel.
    """
    import trio

    place = tunnels.proxy()
    try:
        stream = await trio.open_tcp_stream(*place)
    except OSError as error:
        raise tunnels.unreachable(error) from error
    try:
        await stream.send_all(tunnels.request(host, port, demands))
        answer = TunnelAnswer(tunnels)
        while not answer.add(await stream.receive_some(MOST_BYTES)):
            continue
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    tunnels.tell_unread(host, port, demands, answer.authority)
    if answer.authority is not None:
        _read[stream] = answer.authority
    return stream


@contextmanager
def _connecting(host: str, port: int) -> Iterator[None]:
    """Raise a reported failure of connecting as trio does, which wraps those of all addresses."""
    import socket
    import ssl

    try:
        yield
    except (socket.gaierror, ssl.SSLError):
        raise
    except OSError as error:
        if not getattr(error, IS_TOLD, False):
            raise
        raise OSError(f"all attempts to connect to {host}:{port} failed") from error
