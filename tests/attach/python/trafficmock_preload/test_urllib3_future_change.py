"""urllib3-future, with classes that stand for it; the deep tests try niquests itself."""

from __future__ import annotations

import asyncio
from types import ModuleType, SimpleNamespace
from typing import Any

from trafficmock_preload.clients.urllib3_future_change import change_async, change_either
from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.failure_errors import HEADER
from trafficmock_preload.preload_settings import PreloadSettings
from trafficmock_preload.proxy_tunnel import Tunnels
from twisted.trial.unittest import SynchronousTestCase

URL = "http://127.0.0.1:4310"


class HTTPError(Exception):
    """The base of the library's errors."""


class NewConnectionError(HTTPError):
    """No connection."""

    def __init__(self, _: Any, text: str) -> None:
        super().__init__(text)


class Spying(Tunnels):
    """Opens tunnels that are only noted."""

    def __init__(self, **more: str) -> None:
        super().__init__(PreloadSettings({"TRAFFICMOCK_PROXY_URL": URL, **more}, str))
        self.opened: list[Any] = []
        self.error: OSError | None = None

    def open_socket(self, address: Any, timeout: Any = None, *_: Any, **kwargs: Any) -> Any:
        if self.error is not None:
            raise self.error
        self.opened.append((address, timeout, kwargs))
        return SimpleNamespace()

    def authority_of(self, opened: Any) -> bytes | None:
        return None if opened is None else b"authority"


def changed(tunnels: Tunnels, failure: str = "") -> Any:
    """Make the class of its connections."""

    class HTTPConnection:
        host, port, scheme, proxy, _tunnel_host = "api.test", 80, "http", None, None
        timeout = 5.0
        socket_options = ((6, 1, 1, "tcp"), (17, 1, 1, "udp"), (6, 2, 1))
        sock: Any = None
        _disabled_svn: Any = frozenset()

        def __init__(self) -> None:
            self.headers: list[Any] = []
            self.closed = False

        def _new_conn(self) -> str:
            return "direct"

        def connect(self) -> None:
            self.sock = self._new_conn()

        def putheader(self, *pair: str) -> None:
            self.headers.append(pair)

        def endheaders(self) -> str:
            return "sent"

        def getresponse(self) -> Any:
            return SimpleNamespace(headers={HEADER: failure} if failure else {})

        def close(self) -> None:
            self.closed = True

    module = ModuleType("urllib3.connection")
    vars(module).update(
        HTTPConnection=HTTPConnection,
        HfaceBackend=object,
        HttpVersion=SimpleNamespace(h2="h2", h3="h3"),
        NewConnectionError=NewConnectionError,
        ConnectTimeoutError=NewConnectionError,
    )
    change_either(module, tunnels, TestContexts(30))
    return HTTPConnection


class SyncTests(SynchronousTestCase):
    """Connections of threads."""

    def test_tunnel(self) -> None:
        """A connection is a tunnel with HTTP/1.1, and its requests have a context."""
        tunnels = Spying()
        connection = changed(tunnels)()
        self.assertEqual(connection.endheaders(), "sent")
        options = {"socket_options": [(6, 1, 1), (6, 2, 1)]}
        self.assertEqual(tunnels.opened, [(("api.test", 80), 5.0, options)])
        self.assertEqual(connection.headers, [("Trafficmock-Context", "")])
        self.assertEqual(connection._disabled_svn, {"h2", "h3"})
        self.assertEqual(connection.getresponse().headers, {})

    def test_direct(self) -> None:
        """One to the application's own proxy is not, nor one to an ignored host."""
        connection = changed(Spying(NO_PROXY="api.test"))()
        self.assertEqual(connection._new_conn(), "direct")
        connection = changed(Spying())()
        connection.proxy = "http://other.test"
        self.assertEqual(connection._new_conn(), "direct")

    def test_failure(self) -> None:
        """A failure is the library's error."""
        connection = changed(Spying(), "connectionrefused ")()
        connection.connect()
        self.assertRaises(NewConnectionError, connection.getresponse)
        self.assertTrue(connection.closed)

    def test_no_proxy(self) -> None:
        """So is a proxy that cannot be reached."""
        tunnels = Spying()
        tunnels.error = ConnectionRefusedError(111, "refused")
        self.assertRaises(NewConnectionError, changed(tunnels)()._new_conn)


class AsyncTests(SynchronousTestCase):
    """Connections of an event loop."""

    def test_refused(self) -> None:
        """Each fails with the reason, unless that is allowed."""

        class AsyncHTTPConnection:
            host, port, proxy = "api.test", 80, None

            async def _new_conn(self) -> str:
                return "direct"

        for allowed in ("0", "1"):
            module = ModuleType("urllib3._async.connection")
            kind: Any = type("AsyncHTTPConnection", (AsyncHTTPConnection,), {})
            kind._new_conn = AsyncHTTPConnection._new_conn
            vars(module)["AsyncHTTPConnection"] = kind
            tunnels = Spying(TRAFFICMOCK_ALLOW_UNATTACHED=allowed)
            change_async(module, tunnels, TestContexts(30))
            if allowed == "1":
                self.assertEqual(asyncio.run(kind()._new_conn()), "direct")
                continue
            with self.assertRaises(ConnectionRefusedError) as caught:
                asyncio.run(kind()._new_conn())
            self.assertIn("niquests", str(caught.exception))
