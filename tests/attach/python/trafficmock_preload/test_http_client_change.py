"""What an answer of the proxy becomes that stands for a failure, by the library that asked."""

from types import ModuleType
from typing import Any

from trafficmock_preload.clients.http_client_change import change_http_client
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


def changed(module: str, failure: str) -> Any:
    """Make a connection of a library's class, behind the tunnel, to which a failure comes."""

    class Connection:
        sock = None

        def connect(self) -> None: ...
        def endheaders(self) -> None: ...
        def putheader(self) -> None: ...
        def close(self) -> None: ...

        def getresponse(self) -> Answer:
            return Answer(failure)

    class AnyTunnels(Tunnels):
        def authority_of(self, _: Any) -> bytes:
            return b"api.test:443"

    client = ModuleType("http.client")
    client.HTTPConnection = Connection  # type: ignore[attr-defined] # as in the real one
    change_http_client(client, AnyTunnels(None), TestContexts(30))
    return type("Own", (Connection,), {"__module__": module})()


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
        self.assertRaises(ConnectionRefusedError, connection.getresponse)
