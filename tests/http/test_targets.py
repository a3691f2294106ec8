"""What requests ask for: paths of the service, its own address, other servers."""

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from treq.client import HTTPClient
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.resource import Resource
from twisted.web.server import Request

from tests.support.http_client import Service
from trafficmock.http.access import AccessPolicy
from trafficmock.http.exact_url import ExactUrl
from trafficmock.http.service_request import Discarded
from trafficmock.http.this_service import ThisService


class Broken(Resource):
    """Fails, before or after it has begun to answer."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, *, begun: bool) -> None:
        super().__init__()
        self.begun = begun

    def render(self, request: Request) -> int:
        if self.begun:
            request.write(b"half")
        raise ZeroDivisionError


class RequestTests(SynchronousTestCase):
    """What every request has in common."""

    def test_discarded(self) -> None:
        """A body is taken and forgotten."""
        body = Discarded()
        self.assertEqual(body.write(b"x" * 1000), 1000)
        self.assertEqual(body.read(), b"")

    def test_fault(self) -> None:
        """A resource that fails is a 500 in the common shape, and logged."""
        service = Service()
        service.site.resource = Broken(begun=False)
        answer = service.ask("/health")
        self.assertEqual((answer.status, answer.json()["error"]), (500, "internal"))
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)

    def test_fault_halfway(self) -> None:
        """One that fails after it has begun is cut off: nobody takes the half for the whole."""
        service = Service()
        service.site.resource = Broken(begun=True)
        connection = service.connect()
        connection.send(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        self.assertTrue(connection.transport.aborted)
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)


class TargetTests(SynchronousTestCase):
    """Targets that are not paths."""

    def test_ourselves(self) -> None:
        """A target in absolute form that is our own address is REST, and rules over Host."""
        service = Service(guard=AccessPolicy(service=ThisService(allowed_hosts=["box"])))
        for target in (
            "http://localhost:4310/health",
            "HTTP://127.0.0.1:4310/health?x=1",
            "http://name:token@[::1]:4310/health",
            "http://box:4310/health",
            "ws://localhost:4310/health",
        ):
            answer = service.ask(target, host="evil.example")
            self.assertEqual((answer.status, answer.json().get("ok")), (200, True), target)
        self.assertEqual(service.ask("http://localhost:4310").status, 404)
        self.assertEqual(service.ask("http://localhost:4310/ws").status, 426)
        self.assertEqual(service.ask("http://localhost:4310//health").status, 404)
        query = service.ask("http://localhost:4310/api/history?limit=x")
        self.assertEqual(query.status, 400)

    def test_others(self) -> None:
        """Any other target, and CONNECT, is 501 on a connection that was for us."""
        for method, target in (
            ("GET", "http://api.test/x"),
            ("GET", "http://localhost:4311/health"),
            ("GET", "http://localhost/health"),
            ("GET", "https://localhost:4310/health"),
            ("POST", "http://evil.example:4310/api/history"),
            ("CONNECT", "api.test:443"),
            ("CONNECT", "localhost:4310"),
        ):
            answer = Service().ask(target, method=method, host="api.test")
            code = answer.json()["error"]
            self.assertEqual((answer.status, code), (501, "forward_proxy_unavailable"), target)

    def test_nonsense(self) -> None:
        """A target that is neither a path nor absolute is 400; ``*`` is no path of the API."""
        for target in ("health", "?x", "http:/health"):
            self.assertEqual(Service().ask(target).status, 400, target)
        self.assertEqual(Service().ask("*", method="OPTIONS").status, 404)

    @given(st.text(alphabet="htps:/@[]%?#*.localhost4310\xa0", min_size=1, max_size=40))
    def test_any_target(self, target: str) -> None:
        """No target makes a 500 or a traceback."""
        answer = Service().ask(target)
        self.assertIn(answer.status, (200, 400, 403, 404, 426, 501))
        self.assertEqual(self.flushLoggedErrors(), [])


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
