"""Targets that are not paths: the service's own address, other servers, nonsense."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import Service
from trafficmock.http.access import AccessPolicy


class ForwardDoorTests(SynchronousTestCase):
    """Targets that are not paths."""

    def test_ourselves(self) -> None:
        """A target in absolute form that is our own address is REST, and rules over Host."""
        service = Service(guard=AccessPolicy(allowed_hosts=["box"]))
        for target in (
            "http://localhost:4310/health",
            "HTTP://127.0.0.1:4310/health?x=1",
            "http://name:token@[::1]:4310/health",
            "http://box:4310/health",
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
