"""Changes ``http.client`` and urllib; urllib3 and httplib2 use ``http.client``, too."""

from __future__ import annotations

from contextlib import contextmanager

from trafficmock_preload.clients.environment_proxies import (
    change_proxy_handler,
    change_set_proxy,
)
from trafficmock_preload.failure_errors import (
    HEADER,
    IS_TOLD,
    UNMATCHED,
    TrafficMockError,
    failure_error,
    is_before_request,
    is_malformed,
    of_library,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_ASKS_PROXY = "_trafficmock_asks_proxy"
"""The attribute of a connection to a proxy of the application's own."""

OWN_ERROR = "_trafficmock_error"
"""The attribute of a connection class with the function that makes its library's error."""


def change_http_client(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Open tunnels, add the context to each request, and raise failures that the proxy reports."""
    connection_class: Any = module.__dict__["HTTPConnection"]
    connection_class.connect = _connect(connection_class.connect, tunnels)
    connection_class.send = _send(connection_class.send, tunnels)
    connection_class.endheaders = _endheaders(connection_class, tunnels, contexts)
    connection_class.getresponse = _getresponse(connection_class.getresponse, tunnels, module)


def _connect(original: Callable[[Any], None], tunnels: Tunnels) -> Callable[[Any], None]:
    def connect(self: Any) -> None:
        server = _server(self, tunnels)
        if server is None:
            original(self)
            return
        create = self._create_connection

        def open_tunnel(_: Any, *args: Any, **kwargs: Any) -> Any:
            return tunnels.open_socket(server, *args, **kwargs)

        self._create_connection = open_tunnel
        if self._tunnel_host:
            self._tunnel = _nothing
        try:
            original(self)
        finally:
            self._create_connection = create
            if self._tunnel_host:
                del self._tunnel

    return connect


def _server(connection: Any, tunnels: Tunnels) -> tuple[str, int] | None:
    """Return the server to reach by a tunnel; ``None`` if the connection is none of ours.

    With ``set_tunnel`` and trafficmock's proxy, it is the server behind that.
    """
    host, port = connection.host, connection.port
    if vars(connection).get(_ASKS_PROXY):
        return None
    if connection._tunnel_host:
        if not tunnels.is_proxy(host, port):
            return None
        host, port = connection._tunnel_host, connection._tunnel_port
    return (host, port) if tunnels.wants(host, port) else None


def _is_for_proxy(connection: Any) -> bool:
    """Return whether a request is in absolute form: its server is a proxy of the application's."""
    words = connection._buffer[0].split(b" ", 2) if connection._buffer else []
    return len(words) > 1 and words[1][:7].lower() in {b"http://", b"https:/"}


def _nothing() -> None:
    """Open no tunnel by the library itself."""


def _send(original: Callable[..., None], tunnels: Tunnels) -> Callable[..., None]:
    def send(self: Any, data: Any) -> None:
        with _lost(tunnels, is_read=tunnels.authority_of(self.sock) is not None):
            original(self, data)

    return send


@contextmanager
def _lost(tunnels: Tunnels, *, is_read: bool) -> Iterator[None]:
    """Raise an error that names the proxy, if the proxy has ended."""
    try:
        yield
    except ConnectionError as error:
        if is_read and tunnels.has_ended():
            raise tunnels.lost(error) from error
        raise


def _endheaders(
    connection_class: Any, tunnels: Tunnels, contexts: TestContexts
) -> Callable[..., None]:
    original, putheader = connection_class.endheaders, connection_class.putheader

    def endheaders(self: Any, *args: Any, **kwargs: Any) -> None:
        # Connect now: whether the proxy reads the tunnel decides about the header.
        if self.sock is None and self.auto_open and _server(self, tunnels) is not None:
            vars(self)[_ASKS_PROXY] = _is_for_proxy(self)
            self.connect()
        if tunnels.authority_of(self.sock) is not None:
            for name, value in contexts.outgoing():
                putheader(self, name, value)
        original(self, *args, **kwargs)

    return endheaders


def _getresponse(
    original: Callable[..., Any], tunnels: Tunnels, module: ModuleType
) -> Callable[..., Any]:
    names: Any = module.__dict__
    exception, malformed = names["HTTPException"], names["BadStatusLine"]

    def getresponse(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_read = tunnels.authority_of(self.sock) is not None
        with _lost(tunnels, is_read=is_read):
            response = original(self, *args, **kwargs)
        failure = response.headers.get(HEADER) if is_read else None
        if failure is None or (failure.startswith(UNMATCHED) and _is_botocore(self)):
            return response
        response.close()
        self.close()
        error = failure_error(failure)
        if is_malformed(error):
            raise malformed(error.args[1])
        own_error = getattr(type(self), OWN_ERROR, None)
        made = of_library(error, exception) if own_error is None else own_error(self, error)
        # An error of the network is raised as it is, and cannot be its own cause.
        raise made from None if made is error else _cause(error)

    return getresponse


def _cause(error: Exception) -> Exception | None:
    """Return the error of the network as the cause of the library's."""
    return error if isinstance(error, OSError) else None


def _is_botocore(connection: Any) -> bool:
    """Return whether botocore made a connection: it repeats a request after any exception."""
    return type(connection).__module__.startswith("botocore.")


def change_urllib(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Raise ``URLError`` for refusals and failures before the request is sent, as urllib does."""
    names: Any = module.__dict__
    handler, url_error = names["AbstractHTTPHandler"], names["URLError"]
    original = handler.do_open

    def do_open(self: Any, http_class: Any, request: Any, **kwargs: Any) -> Any:
        try:
            return original(self, http_class, request, **kwargs)
        except url_error:
            raise
        except OSError as error:
            if getattr(error, IS_TOLD, False) and is_before_request(error):
                raise url_error(error) from error
            raise
        except TrafficMockError as error:
            # Slack's client repeats a request after each URLError.
            if "slack" in str(request.get_header("User-agent")).lower():
                raise
            raise of_library(error, url_error) from None

    handler.do_open = do_open
    change_proxy_handler(module, tunnels)
    change_set_proxy(module, tunnels)
