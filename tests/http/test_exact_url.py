"""URLs that treq sends as they are written."""

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from treq.client import HTTPClient
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.exact_url import ExactUrl

PATHS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=20)


class Agent:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    def request(self, _: bytes, uri: bytes, *_more: Any) -> Deferred[Any]:
        self.asked.append(uri)
        return Deferred()


class ExactUrlTests(SynchronousTestCase):
    """Through treq's own client."""

    @given(PATHS)
    def test_unchanged(self, path: str) -> None:
        """Escapes, their absence, and odd hosts reach the agent unchanged."""
        for host in ("my_service:1", "[::1]", "api.test"):
            agent, clock = Agent(), Clock()
            client = HTTPClient(cast("Any", agent))
            client.request("GET", ExactUrl(f"http://{host}/{path}"), reactor=cast("Any", clock))
            self.assertEqual(agent.asked, [f"http://{host}/{path}".encode()])
