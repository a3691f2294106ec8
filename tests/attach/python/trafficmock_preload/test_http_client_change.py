"""What an answer of the proxy becomes that stands for a failure, by the library that asked."""

from __future__ import annotations

import errno
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from types import ModuleType
from typing import Any

from trafficmock_preload.clients.http_client_change import OWN_ERROR, change_http_client
from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.failure_errors import HEADER, TrafficMockError
from trafficmock_preload.proxy_tunnel import Tunnels
from twisted.trial.unittest import SynchronousTestCase


class Answer:
    """A failure."""

    def __init__(self, failure: str) -> None:
        self.headers = {HEADER: failure}

    def close(self) -> None:
        """Be read no further."""


def changed(module: str, failure: str | OSError, **more: Any) -> Any:
    """Make a connection of a library's class, behind the tunnel, to which a failure comes.

    :param failure: what the proxy tells, or what the connection itself fails with.
    :param more: attributes of the class.
    """

    class Connection:
        sock = None

        def connect(self) -> None: ...
        def endheaders(self) -> None: ...
        def putheader(self) -> None: ...
        def close(self) -> None: ...

        def getresponse(self) -> Answer:
            if isinstance(failure, OSError):
                raise failure
            return Answer(failure)

        def send(self, _: bytes) -> None:
            self.getresponse()

    class AnyTunnels(Tunnels):
        def authority_of(self, _: Any) -> bytes:
            return b"api.test:443"

    client = ModuleType("http.client")
    client.HTTPConnection = Connection  # type: ignore[attr-defined] # as in the real one
    client.HTTPException = HTTPException  # type: ignore[attr-defined] # as above
    client.BadStatusLine = BadStatusLine  # type: ignore[attr-defined] # as above
    change_http_client(client, AnyTunnels(None), TestContexts(30))
    return type("Own", (Connection,), {"__module__": module, **more})()


class FailureTests(SynchronousTestCase):
    """Whom an error reaches, and whom the answer."""

    def test_refused(self) -> None:
        """A request that strict mode refuses is an error, but an answer for AWS's clients."""
        failure = "unmatched_request GET%20https%3A%2F%2Fapi.test%2F"
        for module in ("http.client", "urllib3.connection", "botocorex"):
            error = self.assertRaises(TrafficMockError, changed(module, failure).getresponse)
            self.assertEqual(str(error), "GET https://api.test/")
        answer = changed("botocore.awsrequest", failure).getresponse()
        self.assertIsInstance(answer, Answer)

    def test_other_failures(self) -> None:
        """AWS's clients get all other errors."""
        connection = changed("botocore.awsrequest", "connectionrefused ")
        error = self.assertRaises(ConnectionRefusedError, connection.getresponse)
        # Who walks the causes of an error would not come to an end.
        self.assertIsNone(error.__cause__)

    def test_as_it_is(self) -> None:
        """An error that a library leaves as it is, is not its own cause."""
        own = {OWN_ERROR: lambda _, error: error}
        connection = changed("urllib3.connection", "connectionreset ", **own)
        error = self.assertRaises(ConnectionResetError, connection.getresponse)
        self.assertIsNone(error.__cause__)

    def test_lost(self) -> None:
        """Where the proxy hangs up, the error is of the same kind, and names it."""
        for error in (
            RemoteDisconnected("Remote end closed connection without response"),
            ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
            BrokenPipeError(errno.EPIPE, "Broken pipe"),
        ):
            connection = changed("http.client", error)
            for call in (connection.getresponse, lambda made=connection: made.send(b"")):
                found = self.assertRaises(type(error), call)
                self.assertEqual(found.errno, error.errno)
                self.assertIn("trafficmock closed the connection without an answer", str(found))
        connection = changed("http.client", TimeoutError("timed out"))
        self.assertEqual(str(self.assertRaises(TimeoutError, connection.getresponse)), "timed out")
