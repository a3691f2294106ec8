"""Changes httpcore 1 and httpcore2, which httpx uses."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from copy import copy
from functools import partial

from trafficmock_preload.demanded_trust import HTTP_2_ONLY, demand_lines
from trafficmock_preload.failure_errors import (
    HEADER,
    UNMATCHED,
    failure_error,
    is_before_request,
    is_malformed,
)
from trafficmock_preload.proxy_tunnel import MOST_BYTES, TunnelAnswer
from trafficmock_preload.tunnel_trust import trusting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels


def change_pool(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Open tunnels where a pool connects to a server: by no other proxy, no UNIX socket."""
    names: Any = module.__dict__
    is_async = "AsyncConnectionPool" in names
    pool = names["AsyncConnectionPool" if is_async else "ConnectionPool"]
    direct = names["AsyncHTTPConnection" if is_async else "HTTPConnection"]
    backend = AsyncTunnelBackend if is_async else TunnelBackend
    library = _library(module)
    original = pool.create_connection

    def create_connection(self: Any, origin: Any) -> Any:
        connection = original(self, origin)
        if _is_needless(connection, origin, tunnels):
            without = copy(self)
            without._proxy = None
            connection = original(without, origin)
        if type(connection) is direct and connection._uds is None:
            given = connection._network_backend
            demands = partial(_demands, connection)
            connection._network_backend = backend(given, tunnels, library, demands)
        return connection

    pool.create_connection = create_connection


def change_proxy(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Open tunnels where a pool with trafficmock's proxy connects to a server."""
    for name in ("HTTPProxy", "AsyncHTTPProxy"):
        proxy_pool: Any = module.__dict__.get(name)
        if proxy_pool is not None and "create_connection" in vars(proxy_pool):
            proxy_pool.create_connection = _create_without(proxy_pool, tunnels)


def _create_without(proxy_pool: Any, tunnels: Tunnels) -> Any:
    original, direct = proxy_pool.create_connection, proxy_pool.__base__

    def create_connection(self: Any, origin: Any) -> Any:
        connection = original(self, origin)
        if _is_needless(connection, origin, tunnels):
            return direct.create_connection(self, origin)
        return connection

    return create_connection


def _is_needless(connection: Any, origin: Any, tunnels: Tunnels) -> bool:
    """Return whether a connection goes through trafficmock's proxy, which a tunnel does anyway."""
    proxy = getattr(connection, "_proxy_origin", None)
    return (
        proxy is not None
        and tunnels.is_proxy_url(str(proxy))
        and tunnels.wants(origin.host, origin.port)
    )


def _demands(connection: Any) -> bytes:
    """Write what a connection demands of its server."""
    if connection._origin.scheme not in {b"https", b"wss"}:
        return b""
    offers = bool(getattr(connection, "_http2", False))
    only = offers and not getattr(connection, "_http1", True)
    reason = HTTP_2_ONLY if only else ""
    return demand_lines(connection._ssl_context, reason=reason, offers_http_2=offers)


def change_http11(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Add the context to each request, and raise failures that the proxy reports."""
    names: Any = module.__dict__
    library = _library(module)
    if "AsyncHTTP11Connection" in names:
        _change_async(names["AsyncHTTP11Connection"], tunnels, contexts, library)
    else:
        _change_sync(names["HTTP11Connection"], tunnels, contexts, library)


def _library(module: ModuleType) -> Any:
    """Return the top package of a module, which has the library's errors."""
    return sys.modules[module.__name__.partition(".")[0]]


def _change_sync(
    connection_class: Any, tunnels: Tunnels, contexts: TestContexts, library: Any
) -> None:
    original = connection_class.handle_request

    def handle_request(self: Any, request: Any) -> Any:
        if not isinstance(self._network_stream, TunnelStream):
            return original(self, request)
        headers = request.headers
        request.headers = [*headers, *_lines(contexts)]
        try:
            with _answered(library, tunnels):
                response = original(self, request)
        finally:
            request.headers = headers
        failure = _failure(response, library)
        if failure is not None:
            response.close()
            raise failure
        return response

    connection_class.handle_request = handle_request


def _change_async(
    connection_class: Any, tunnels: Tunnels, contexts: TestContexts, library: Any
) -> None:
    original = connection_class.handle_async_request

    async def handle_async_request(self: Any, request: Any) -> Any:
        if not isinstance(self._network_stream, AsyncTunnelStream):
            return await original(self, request)
        headers = request.headers
        request.headers = [*headers, *_lines(contexts)]
        try:
            with _answered(library, tunnels):
                response = await original(self, request)
        finally:
            request.headers = headers
        failure = _failure(response, library)
        if failure is not None:
            await response.aclose()
            raise failure
        return response

    connection_class.handle_async_request = handle_async_request


@contextmanager
def _answered(library: Any, tunnels: Tunnels) -> Iterator[None]:
    """Raise an error that names the proxy, if the proxy has ended."""
    try:
        yield
    except (library.ReadError, library.RemoteProtocolError) as error:
        if isinstance(error, library.RemoteProtocolError) and "disconnected" not in str(error):
            raise
        if not tunnels.has_ended():
            raise
        raise type(error)(tunnels.unanswered) from error


def _lines(contexts: TestContexts) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in contexts.outgoing()]


def _failure(response: Any, library: Any) -> Exception | None:
    """Return the error for a failure that the proxy reports in a response; else ``None``.

    It is ``None`` for requests that strict mode refused: OpenAI's and Anthropic's clients repeat a
    request after any exception, but not after the response 403.
    """
    name = HEADER.encode("ascii")
    for key, value in response.headers:
        if key.lower() == name:
            text = value.decode("ascii", "replace")
            return None if text.startswith(UNMATCHED) else _own_error(failure_error(text), library)
    return None


def _own_error(error: Exception, library: Any) -> Exception:
    if not isinstance(error, OSError):
        return error
    if isinstance(error, TimeoutError):
        made: Exception = library.ConnectTimeout(str(error))
    elif is_malformed(error):
        made = library.RemoteProtocolError(error.strerror)
    elif is_before_request(error):
        made = library.ConnectError(str(error))
    else:
        made = library.ReadError(str(error))
    # The pool raises it again "from None", which removes the cause, not the context.
    made.__cause__ = made.__context__ = error
    return made


class TunnelBackend:
    """A network backend of httpcore that opens tunnels to servers.

    :param backend: the connection's own backend, which connects to the proxy.
    :param library: the library's top package, which has its errors.
    :param demands: writes what the connection demands of its server.
    """

    def __init__(
        self, backend: Any, tunnels: Tunnels, library: Any, demands: Callable[[], bytes]
    ) -> None:
        self._demands = demands
        self._backend = backend
        self._tunnels = tunnels
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> Any:
        """Open a tunnel; a direct connection to hosts that do not go through the proxy."""
        tunnels = self._tunnels
        more = {} if socket_options is None else {"socket_options": socket_options}
        if not tunnels.wants(host, port):
            return self._backend.connect_tcp(
                host, port, timeout=timeout, local_address=local_address, **more
            )
        with _connect_errors(self._library, tunnels):
            stream = self._backend.connect_tcp(*tunnels.proxy(), timeout=timeout, **more)
        try:
            with _connect_errors(self._library):
                demands = self._demands()
                stream.write(tunnels.request(host, port, demands), timeout=timeout)
                answer = TunnelAnswer(tunnels)
                while not answer.add(stream.read(MOST_BYTES, timeout=timeout)):
                    continue
        except BaseException:
            stream.close()
            raise
        tunnels.tell_unread(host, port, demands, answer.authority)
        return TunnelStream.over(stream, answer.authority)


class AsyncTunnelBackend(TunnelBackend):
    """The same for asyncio and trio."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> Any:
        """Open a tunnel; a direct connection to hosts that do not go through the proxy."""
        tunnels = self._tunnels
        more = {} if socket_options is None else {"socket_options": socket_options}
        if not tunnels.wants(host, port):
            return await self._backend.connect_tcp(
                host, port, timeout=timeout, local_address=local_address, **more
            )
        with _connect_errors(self._library, tunnels):
            stream = await self._backend.connect_tcp(*tunnels.proxy(), timeout=timeout, **more)
        try:
            with _connect_errors(self._library):
                demands = self._demands()
                await stream.write(tunnels.request(host, port, demands), timeout=timeout)
                answer = TunnelAnswer(tunnels)
                while not answer.add(await stream.read(MOST_BYTES, timeout=timeout)):
                    continue
        except BaseException:
            await stream.aclose()
            raise
        tunnels.tell_unread(host, port, demands, answer.authority)
        return AsyncTunnelStream.over(stream, answer.authority)


@contextmanager
def _connect_errors(library: Any, tunnels: Tunnels | None = None) -> Iterator[None]:
    """Convert errors of opening a tunnel to ``ConnectError`` of httpcore.

    :param tunnels: makes the text, while the connection to the proxy is opened; else ``None``.
    """
    try:
        yield
    except OSError as error:
        raise library.ConnectError(str(error)) from error
    except library.ConnectError as error:
        if tunnels is None:
            raise
        raise library.ConnectError(tunnels.not_reached(error)) from error


class TunnelStream:
    """A network stream of httpcore in a tunnel that the proxy reads.

    :param stream: the stream to the proxy.
    :param authority: the proxy's authority, in DER.
    """

    def __init__(self, stream: Any, authority: bytes) -> None:
        self._stream = stream
        self._authority = authority

    @classmethod
    def over(cls, stream: Any, authority: bytes | None) -> Any:
        """Wrap a stream; one that the proxy does not read is returned unchanged."""
        return stream if authority is None else cls(stream, authority)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> Any:
        """Begin TLS with a context that trusts the proxy's authority."""
        context = trusting(self._authority, ssl_context)
        stream = self._stream.start_tls(context, server_hostname, timeout)
        return TunnelStream(stream, self._authority)


class AsyncTunnelStream(TunnelStream):
    """The same for asyncio and trio."""

    async def start_tls(
        self,
        ssl_context: Any,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Begin TLS with a context that trusts the proxy's authority."""
        context = trusting(self._authority, ssl_context)
        stream = await self._stream.start_tls(context, server_hostname, timeout)
        return AsyncTunnelStream(stream, self._authority)
