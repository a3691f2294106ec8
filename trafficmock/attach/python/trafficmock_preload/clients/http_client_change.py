"""Changes ``http.client`` and urllib; urllib3 and httplib2 use ``http.client``, too."""

from __future__ import annotations

from contextlib import contextmanager

from trafficmock_preload.clients.environment_proxies import change_proxy_handler
from trafficmock_preload.failure_errors import (
    HEADER,
    IS_TOLD,
    UNMATCHED,
    TrafficMockError,
    failure_error,
    is_before_request,
    of_library,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

OWN_ERROR = "_trafficmock_error"
"""The attribute of a connection class with the function that makes its library's error."""


def change_http_client(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Open tunnels, add the context to each request, and raise failures that the proxy reports."""
    connection_class: Any = module.__dict__["HTTPConnection"]
    connection_class.connect = _connect(connection_class.connect, tunnels)
    connection_class.send = _send(connection_class.send, tunnels)
    connection_class.endheaders = _endheaders(connection_class, tunnels, contexts)
    exception = module.__dict__["HTTPException"]
    connection_class.getresponse = _getresponse(connection_class.getresponse, tunnels, exception)


def _connect(original: Callable[[Any], None], tunnels: Tunnels) -> Callable[[Any], None]:
    def connect(self: Any) -> None:
        if self._tunnel_host or not tunnels.wants(self.host, self.port):
            original(self)
            return
        create = self._create_connection
        self._create_connection = tunnels.open_socket
        try:
            original(self)
        finally:
            self._create_connection = create

    return connect


def _send(original: Callable[..., None], tunnels: Tunnels) -> Callable[..., None]:
    def send(self: Any, data: Any) -> None:
        with _lost(tunnels, is_read=tunnels.authority_of(self.sock) is not None):
            original(self, data)

    return send


@contextmanager
def _lost(tunnels: Tunnels, *, is_read: bool) -> Iterator[None]:
    """Raise an error that names the proxy, if the proxy closed the connection."""
    try:
        yield
    except ConnectionError as error:
        if is_read:
            raise tunnels.lost(error) from error
        raise


def _endheaders(
    connection_class: Any, tunnels: Tunnels, contexts: TestContexts
) -> Callable[..., None]:
    original, putheader = connection_class.endheaders, connection_class.putheader

    def endheaders(self: Any, *args: Any, **kwargs: Any) -> None:
        # Connect now: whether the proxy reads the tunnel decides about the header.
        if self.sock is None and self.auto_open and tunnels.wants(self.host, self.port):
            self.connect()
        if tunnels.authority_of(self.sock) is not None:
            for name, value in contexts.outgoing():
                putheader(self, name, value)
        original(self, *args, **kwargs)

    return endheaders


def _getresponse(
    original: Callable[..., Any], tunnels: Tunnels, exception: type[Exception]
) -> Callable[..., Any]:
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
