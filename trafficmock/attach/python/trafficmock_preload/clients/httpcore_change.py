"""httpcore 1 and httpcore2, on which httpx stands, and on that the clients of many services."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from trafficmock_preload.failure_errors import HEADER, UNMATCHED, failure_error, is_before_request
from trafficmock_preload.proxy_tunnel import MOST_BYTES, TunnelAnswer
from trafficmock_preload.tunnel_trust import trusting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels


def change_pool(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Open tunnels where a pool connects to a server itself, and not through a proxy or a file."""
    names: Any = module.__dict__
    is_async = "AsyncConnectionPool" in names
    pool = names["AsyncConnectionPool" if is_async else "ConnectionPool"]
    direct = names["AsyncHTTPConnection" if is_async else "HTTPConnection"]
    backend = AsyncTunnelBackend if is_async else TunnelBackend
    library = _library(module)
    original = pool.create_connection

    def create_connection(self: Any, origin: Any) -> Any:
        connection = original(self, origin)
        if type(connection) is direct and connection._uds is None:
            given = connection._network_backend
            connection._network_backend = backend(given, tunnels, library)
        return connection

    pool.create_connection = create_connection


def change_http11(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Name the context of each request, and raise what the proxy tells."""
    names: Any = module.__dict__
    library = _library(module)
    if "AsyncHTTP11Connection" in names:
        _change_async(names["AsyncHTTP11Connection"], tunnels, contexts, library)
    else:
        _change_sync(names["HTTP11Connection"], tunnels, contexts, library)


def _library(module: ModuleType) -> Any:
    """Give the library that a module is of, which has its errors."""
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
    """Say so where the proxy hung up without an answer, by the error that tells it of a server."""
    try:
        yield
    except (library.ReadError, library.RemoteProtocolError) as error:
        if isinstance(error, library.RemoteProtocolError) and "disconnected" not in str(error):
            raise
        raise type(error)(tunnels.unanswered) from error


def _lines(contexts: TestContexts) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in contexts.outgoing()]


def _failure(response: Any, library: Any) -> Exception | None:
    """Give the error of httpcore that an answer stands for.

    What strict mode refuses stays an answer, 403: the clients of OpenAI and Anthropic repeat a
    request after every exception, and after that answer they do not.
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
    elif is_before_request(error):
        made = library.ConnectError(str(error))
    else:
        made = library.ReadError(str(error))
    # The pool raises it again without its cause; the context stays.
    made.__cause__ = made.__context__ = error
    return made


class TunnelBackend:
    """Connects to the proxy in the place of servers, by a backend of httpcore's.

    :param backend: the connection's own.
    :param library: has the errors to raise.
    """

    def __init__(self, backend: Any, tunnels: Tunnels, library: Any) -> None:
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
        """Open a tunnel."""
        tunnels = self._tunnels
        more = {} if socket_options is None else {"socket_options": socket_options}
        if not tunnels.wants(host, port):
            return self._backend.connect_tcp(
                host, port, timeout=timeout, local_address=local_address, **more
            )
        with _told(self._library, tunnels):
            stream = self._backend.connect_tcp(*tunnels.proxy(), timeout=timeout, **more)
        try:
            with _told(self._library):
                stream.write(tunnels.request(host, port), timeout=timeout)
                answer = TunnelAnswer(tunnels)
                while not answer.add(stream.read(MOST_BYTES, timeout=timeout)):
                    continue
        except BaseException:
            stream.close()
            raise
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
        """Open a tunnel."""
        tunnels = self._tunnels
        more = {} if socket_options is None else {"socket_options": socket_options}
        if not tunnels.wants(host, port):
            return await self._backend.connect_tcp(
                host, port, timeout=timeout, local_address=local_address, **more
            )
        with _told(self._library, tunnels):
            stream = await self._backend.connect_tcp(*tunnels.proxy(), timeout=timeout, **more)
        try:
            with _told(self._library):
                await stream.write(tunnels.request(host, port), timeout=timeout)
                answer = TunnelAnswer(tunnels)
                while not answer.add(await stream.read(MOST_BYTES, timeout=timeout)):
                    continue
        except BaseException:
            await stream.aclose()
            raise
        return AsyncTunnelStream.over(stream, answer.authority)


@contextmanager
def _told(library: Any, tunnels: Tunnels | None = None) -> Iterator[None]:
    """Raise errors of a tunnel as errors of httpcore.

    :param tunnels: while the proxy is connected to, so that the text names it.
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
    """A stream that the proxy reads.

    :param stream: a stream of httpcore's.
    :param authority: by which the proxy opens TLS within, in DER.
    """

    def __init__(self, stream: Any, authority: bytes) -> None:
        self._stream = stream
        self._authority = authority

    @classmethod
    def over(cls, stream: Any, authority: bytes | None) -> Any:
        """Give the stream itself where the proxy does not read it."""
        return stream if authority is None else cls(stream, authority)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> Any:
        """Begin TLS, which trusts the proxy."""
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
        """Begin TLS, which trusts the proxy."""
        context = trusting(self._authority, ssl_context)
        stream = await self._stream.start_tls(context, server_hostname, timeout)
        return AsyncTunnelStream(stream, self._authority)
