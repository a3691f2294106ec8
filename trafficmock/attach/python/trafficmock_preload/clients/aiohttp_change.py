"""Changes aiohttp's client, with its WebSockets."""

from __future__ import annotations

from http import HTTPStatus
from weakref import WeakSet

from trafficmock_preload.clients.asyncio_tunnel import open_tunnel
from trafficmock_preload.clients.environment_proxies import is_needless
from trafficmock_preload.demanded_trust import demand_lines
from trafficmock_preload.failure_errors import (
    HEADER,
    failure_error,
    is_before_request,
    is_malformed,
    of_library,
)
from trafficmock_preload.tunnel_trust import trusting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_read: WeakSet[Any] = WeakSet()
"""The protocols of connections in tunnels that the proxy reads."""


def change_connector(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Open a tunnel where a connector connects to a server directly."""
    names: Any = module.__dict__
    connector = names["TCPConnector"]
    original = connector._create_direct_connection

    async def create_direct_connection(
        self: Any, req: Any, traces: Any, timeout: Any, **more: Any
    ) -> Any:
        host, port = req.url.raw_host, req.url.port
        # With an application's own proxy, req is a made-up request to that proxy.
        if "client_error" in more or not tunnels.wants(host, port):
            return await original(self, req, traces, timeout, **more)
        return await _tunnelled(self, req, timeout, names, tunnels)

    connector._create_direct_connection = create_direct_connection


async def _tunnelled(
    connector: Any, req: Any, timeout: Any, names: Any, tunnels: Tunnels
) -> tuple[Any, Any]:
    """Open a connection in a tunnel, in the place of ``TCPConnector._create_direct_connection``."""
    import asyncio
    import ssl

    key = req.connection_key
    host, port = req.url.raw_host, req.url.port
    wanted = connector._get_ssl_context(req)
    loop = asyncio.get_running_loop()
    fingerprint = connector._get_fingerprint(req) if wanted is not None else None
    pin = "" if fingerprint is None else fingerprint.fingerprint.hex()
    demands = b"" if wanted is None else demand_lines(wanted, pin)
    try:
        opened, authority = await asyncio.wait_for(
            open_tunnel(loop, host, port, tunnels, demands), timeout.sock_connect
        )
        if wanted is not None and authority is not None:
            wanted = trusting(authority, wanted)
        server = getattr(req, "server_hostname", None) or host
        made: tuple[Any, Any] = await loop.create_connection(
            connector._factory,
            sock=opened,
            ssl=wanted,
            server_hostname=server.rstrip(".") if wanted else None,
        )
    except ssl.CertificateError as error:
        raise names["ClientConnectorCertificateError"](key, error) from error
    except ssl.SSLError as error:
        raise names["ClientConnectorSSLError"](key, error) from error
    except OSError as error:
        if error.errno is None and isinstance(error, asyncio.TimeoutError):
            raise
        raise names["ClientConnectorError"](key, error) from error
    if authority is not None:
        _read.add(made[1])
    elif fingerprint is not None:
        try:
            fingerprint.check(made[0])
        except Exception:
            made[0].close()
            raise
    return made


def change_requests(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Add the context to each request, and raise failures that the proxy reports.

    A proxy that a request is given is removed if it is trafficmock's.
    """
    names: Any = module.__dict__
    request_class, response_class = names["ClientRequest"], names["ClientResponse"]
    request_class.send = _send(request_class.send, contexts)
    response_class.start = _start(response_class.start, tunnels)
    request_class.update_proxy = _update_proxy(request_class.update_proxy, tunnels)


def _update_proxy(original: Callable[..., None], tunnels: Tunnels) -> Callable[..., None]:
    def update_proxy(self: Any, proxy: Any, *args: Any, **kwargs: Any) -> None:
        from urllib.parse import urlsplit

        target, transport = urlsplit(str(self.url)), "aiohttp.connector"
        is_ours = is_needless(proxy and str(proxy), target, tunnels, transport)
        original(self, None if is_ours else proxy, *args, **kwargs)

    return update_proxy


def _send(original: Callable[..., Any], contexts: TestContexts) -> Callable[..., Any]:
    async def send(self: Any, conn: Any) -> Any:
        if conn.protocol not in _read:
            return await original(self, conn)
        headers = self.headers
        self.headers = headers.copy()
        for name, value in contexts.outgoing():
            self.headers.add(name, value)
        try:
            return await original(self, conn)
        finally:
            self.headers = headers

    return send


def _start(original: Callable[..., Any], tunnels: Tunnels) -> Callable[..., Any]:
    async def start(self: Any, connection: Any) -> Any:
        is_read = connection.protocol in _read
        try:
            response = await original(self, connection)
        except Exception as error:
            lost = _of_lost(error, tunnels) if is_read else None
            if lost is None:
                raise
            raise lost from error
        failure = self.headers.get(HEADER) if is_read else None
        if failure is None:
            return response
        key = getattr(connection, "_key", None)
        self.close()
        reported = failure_error(failure)
        if is_malformed(reported):
            raise _malformed(self, reported)
        raise _own_error(reported, key)

    return start


def _of_lost(error: Exception, tunnels: Tunnels) -> Exception | None:
    """Make the error for a connection that the proxy lost by its end; ``None`` for other errors.

    :returns: an error of the same type, whose text names the proxy.
    """
    import aiohttp

    kinds = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
    if not isinstance(error, kinds) or not tunnels.has_ended():
        return None
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return type(error)(tunnels.unanswered)
    return tunnels.lost(error) if isinstance(error, aiohttp.ClientOSError) else None


def _malformed(response: Any, error: Any) -> Exception:
    """Make the error that aiohttp raises for what is not HTTP."""
    import aiohttp

    status, text = HTTPStatus.BAD_REQUEST.value, error.strerror
    made = aiohttp.ClientResponseError(
        response.request_info, response.history, status=status, message=text
    )
    made.__cause__ = error
    return made


def _own_error(error: Exception, key: Any) -> Exception:
    """Make the error that aiohttp raises for an error of the network."""
    import socket
    import ssl

    import aiohttp

    if not isinstance(error, OSError):
        return of_library(error, aiohttp.ClientError)
    made: Exception
    if isinstance(error, TimeoutError):
        made = getattr(aiohttp, "ConnectionTimeoutError", aiohttp.ServerTimeoutError)(str(error))
    elif isinstance(error, ssl.CertificateError):
        made = aiohttp.ClientConnectorCertificateError(key, error)
    elif isinstance(error, ssl.SSLError) and is_before_request(error):
        made = aiohttp.ClientConnectorSSLError(key, error)
    elif isinstance(error, socket.gaierror):
        made = getattr(aiohttp, "ClientConnectorDNSError", aiohttp.ClientConnectorError)(key, error)
    elif is_before_request(error):
        made = aiohttp.ClientConnectorError(key, error)
    else:
        made = aiohttp.ClientOSError(error.errno, error.strerror)
    made.__cause__ = error
    return made
