"""Changes urllib3-future, on which niquests stands; where it is installed, it replaces urllib3.

It speaks HTTP by itself. In tunnels it uses HTTP/1.1, which the proxy answers. Its async
connections cannot be tunnels: each fails, with the reason, unless the application may have
connections that are not attached.
"""

from __future__ import annotations

from contextlib import suppress

from trafficmock_preload.clients.urllib3_change import change_urllib3, make_own_error
from trafficmock_preload.failure_errors import HEADER, failure_error
from trafficmock_preload.proxy_tunnel import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts
    from trafficmock_preload.proxy_tunnel import Tunnels

_OPTION_PARTS = 3


def change_either(module: ModuleType, tunnels: Tunnels, contexts: TestContexts) -> None:
    """Change a module that is urllib3's, or urllib3-future's in its place.

    In the latter: open tunnels, add the context to each request, and raise failures that the proxy
    reports.
    """
    names: Any = module.__dict__
    if "HfaceBackend" not in names:
        change_urllib3(module, tunnels, contexts)
        return
    connection_class: Any = names["HTTPConnection"]
    connection_class._new_conn = _new_conn(connection_class._new_conn, names, tunnels)
    connection_class.endheaders = _endheaders(connection_class.endheaders, tunnels, contexts)
    connection_class.getresponse = _getresponse(connection_class.getresponse, names, tunnels)


def _new_conn(original: Callable[[Any], Any], names: Any, tunnels: Tunnels) -> Callable[[Any], Any]:
    versions, own_error = names["HttpVersion"], make_own_error(names)

    def new_conn(self: Any) -> Any:
        if self.proxy or self._tunnel_host or not tunnels.wants(self.host, self.port):
            return original(self)
        self._disabled_svn = {*self._disabled_svn, versions.h2, versions.h3}
        # An option may have the protocol that it is for as its fourth part.
        options = [
            each[:_OPTION_PARTS]
            for each in self.socket_options or ()
            if len(each) == _OPTION_PARTS or each[_OPTION_PARTS] == "tcp"
        ]
        timeout = self.timeout if isinstance(self.timeout, (int, float)) else None
        try:
            return tunnels.open_socket((self.host, self.port), timeout, socket_options=options)
        except OSError as error:
            raise own_error(self, error) from error

    return new_conn


def _endheaders(
    original: Callable[..., Any], tunnels: Tunnels, contexts: TestContexts
) -> Callable[..., Any]:
    def endheaders(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.sock is None:
            self.connect()
        if tunnels.authority_of(self.sock) is not None:
            for name, value in contexts.outgoing():
                self.putheader(name, value)
        return original(self, *args, **kwargs)

    return endheaders


def _getresponse(original: Callable[..., Any], names: Any, tunnels: Tunnels) -> Callable[..., Any]:
    own_error = make_own_error(names)

    def getresponse(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_read = tunnels.authority_of(self.sock) is not None
        response = original(self, *args, **kwargs)
        failure = response.headers.get(HEADER) if is_read and response is not None else None
        if failure is None:
            return response
        with suppress(Exception):
            self.close()
        raise own_error(self, failure_error(failure))

    return getresponse


def change_async(module: ModuleType, tunnels: Tunnels, _: TestContexts) -> None:
    """Let each async connection fail that would leave past the proxy."""
    connection_class: Any = module.__dict__["AsyncHTTPConnection"]
    original = connection_class._new_conn

    async def new_conn(self: Any) -> Any:
        settings = tunnels.settings
        is_allowed = settings is not None and settings.allows_unattached
        if is_allowed or self.proxy or not tunnels.wants(self.host, self.port):
            return await original(self)
        raise refused(
            f"the connection to {self.host} cannot be attached, because it is an async one of "
            "urllib3-future (niquests): tests and strict mode would not see its requests. Use the "
            "sync client or another library, or start the application by `trafficmock run "
            "--allow-unattached`, or with TRAFFICMOCK_ALLOW_UNATTACHED=1"
        )

    connection_class._new_conn = new_conn
