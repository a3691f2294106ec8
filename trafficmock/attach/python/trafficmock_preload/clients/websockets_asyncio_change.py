"""Changes the asyncio clients of websockets: the new one and the legacy one."""

from __future__ import annotations

from functools import partial
from weakref import WeakSet

from trafficmock_preload.clients.asyncio_tunnel import open_tunnel
from trafficmock_preload.clients.websockets_change import (
    leave_out_proxy,
    named_context,
    own_errors,
    with_context,
)
from trafficmock_preload.demanded_trust import demand_lines
from trafficmock_preload.tunnel_trust import trusting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_read: WeakSet[Any] = WeakSet()
"""The connections in tunnels that the proxy reads."""

_OF_CONNECTING = frozenset(
    {"host", "port", "local_addr", "family", "proto", "flags", "happy_eyeballs_delay", "interleave"}
)
"""Arguments of ``loop.create_connection`` that are not allowed together with ``sock``."""


def change_asyncio(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Open tunnels where the client connects to a server directly, and add the context."""
    names: Any = module.__dict__
    leave_out_proxy(names, tunnels)
    connect, connection_class = names["connect"], names["ClientConnection"]
    # Version 17 renamed both.
    is_new = hasattr(connect, "open_tcp_connection")
    opening = "open_tcp_connection" if is_new else "create_connection"
    arguments = "create_connection_kwargs" if is_new else "connection_kwargs"
    original = getattr(connect, opening)

    async def opened(self: Any) -> Any:
        given, uri = getattr(self, arguments), names["parse_uri"](self.uri)
        host, port = given.get("host", uri.host), given.get("port", uri.port)
        if _has_proxy(self, uri, names) or not _connects(given) or not tunnels.wants(host, port):
            return await original(self)
        changed, is_read = await _through_tunnel(host, port, given, uri.secure, tunnels)
        setattr(self, arguments, changed)
        try:
            connection = await original(self)
        finally:
            setattr(self, arguments, given)
        if is_read:
            _read.add(connection)
        return connection

    setattr(connect, opening, opened)
    handshake = connection_class.handshake

    async def shaken(self: Any, *args: Any, **kwargs: Any) -> None:
        if self not in _read:
            await handshake(self, *args, **kwargs)
            return
        with own_errors(), named_context(self, contexts):
            await handshake(self, *args, **kwargs)

    connection_class.handshake = shaken


def _connects(given: Mapping[str, Any]) -> bool:
    """Return whether the library opens the connection: by TCP, not on a socket that it is given."""
    return given.get("sock") is None and not given.get("unix")


def _has_proxy(connect: Any, uri: Any, names: Any) -> bool:
    """Return whether a connection goes through a proxy other than trafficmock's."""
    proxy = getattr(connect, "proxy", None)
    return (names["get_proxy"](uri) if proxy is True else proxy) is not None


async def _through_tunnel(
    host: str, port: int, given: Mapping[str, Any], is_secure: bool, tunnels: Tunnels
) -> tuple[dict[str, Any], bool]:
    """Open a tunnel.

    :param given: the arguments of ``loop.create_connection``.
    :returns: the arguments with the tunnel's socket, and whether the proxy reads the tunnel.
    """
    import asyncio

    demands = demand_lines(given.get("ssl")) if is_secure else b""
    loop = asyncio.get_running_loop()
    opened, authority = await open_tunnel(loop, host, port, tunnels, demands)
    changed = {name: value for name, value in given.items() if name not in _OF_CONNECTING}
    changed["sock"] = opened
    if is_secure and authority is not None:
        changed["ssl"] = trusting(authority, given.get("ssl"))
    return changed, authority is not None


def change_legacy(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Do the same for the legacy client, which does not support proxies."""
    names: Any = module.__dict__
    connect, protocol_class = names["Connect"], names["WebSocketClientProtocol"]
    original, handshake = connect.__init__, protocol_class.handshake

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - that of Connect
        original(self, *args, **kwargs)
        made = self._create_connection
        if made.func.__name__ == "create_connection":
            # A partial like the library's own, whose parts it uses for a redirect.
            opening = _legacy_opening(made.func, tunnels)
            self._create_connection = partial(opening, *made.args, **made.keywords)

    async def shaken(self: Any, *args: Any, **kwargs: Any) -> None:
        if self not in _read:
            await handshake(self, *args, **kwargs)
            return
        write = self.write_http_request

        def write_http_request(path: str, headers: Any) -> None:
            write(path, with_context(headers, contexts))
            self.request_headers = headers

        self.write_http_request = write_http_request
        try:
            with own_errors():
                await handshake(self, *args, **kwargs)
        finally:
            del self.write_http_request

    connect.__init__ = __init__
    protocol_class.handshake = shaken


def _legacy_opening(create: Any, tunnels: Tunnels) -> Any:
    async def opened(factory: Any, host: Any = None, port: Any = None, **given: Any) -> Any:
        if not _connects(given) or not tunnels.wants(host, port):
            return await create(factory, host, port, **given)
        is_secure = given.get("ssl") is not None
        changed, is_read = await _through_tunnel(host, port, given, is_secure, tunnels)
        if is_secure:
            changed.setdefault("server_hostname", host)
        transport, protocol = await create(factory, **changed)
        if is_read:
            _read.add(protocol)
        return transport, protocol

    return opened
