"""The dashboard's doors: files, health, who may come in, and what every answer carries."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.dashboard.fakes import PROXY, Dashboard
from trafficmock.dashboard.dashboard_root import POLICY
from trafficmock.http.access import AccessPolicy
from trafficmock.http.this_service import ThisService


class PageTests(SynchronousTestCase):
    """The files."""

    def test_start_page(self) -> None:
        """The root is the start page, whatever its query, with a policy that lets nothing run."""
        for target in ("/", "/?view=ws&q=%3Cscript%3E"):
            answer = Dashboard().ask(target)
            self.assertEqual((answer.status, answer.body), (200, b"<p>start</p>"))
            self.assertEqual(answer.headers["content-type"], "text/html; charset=utf-8")
            self.assertEqual(answer.headers["content-security-policy"], POLICY.decode())
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
            self.assertEqual(answer.headers["cache-control"], "no-cache")

    def test_policy(self) -> None:
        """The policy allows our own scripts and styles and nothing inline, framed or foreign."""
        parts = dict(part.strip().split(" ", 1) for part in POLICY.decode().split(";"))
        self.assertEqual(parts["default-src"], "'none'")
        for name in ("script-src", "style-src", "connect-src"):
            self.assertEqual(parts[name], "'self'")
        for name in ("base-uri", "form-action", "frame-ancestors"):
            self.assertEqual(parts[name], "'none'")
        self.assertEqual(parts["img-src"], "'self' data: blob:")

    def test_kept(self) -> None:
        """A browser that has the file is told so, without the file."""
        answer = Dashboard().ask("/js/main.js", if_none_match='"main"')
        self.assertEqual((answer.status, answer.body), (304, b""))

    def test_unknown(self) -> None:
        """Any other path is 404, and the proxy is not asked."""
        made = Dashboard()
        for target in ("/x", "/js/", "/js/../main.js", "/%2e%2e/x", "//", "/static/", "/apix"):
            answer = made.ask(target)
            self.assertEqual((answer.status, answer.json()), (404, {"error": "not_found"}), target)
        self.assertEqual(made.agent.asked, [])

    def test_head(self) -> None:
        """HEAD is GET without the body."""
        answer = Dashboard().ask("/", method="HEAD")
        self.assertEqual((answer.status, answer.body), (200, b""))
        self.assertEqual(answer.headers["content-length"], "12")

    def test_methods(self) -> None:
        """Nothing but GET and HEAD: the dashboard only shows."""
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "get"):
            for target in ("/", "/api/history", "/health"):
                answer = Dashboard().ask(target, method=method)
                self.assertEqual(answer.status, 405)
                self.assertEqual(answer.headers["allow"], "GET, HEAD")

    @given(st.text(alphabet="%/?&=.apijs20\\<>\"'", max_size=30))
    def test_any_target(self, target: str) -> None:
        """Whatever is asked for, the answer is a file, JSON, or the proxy's business."""
        made = Dashboard()
        connection = made.open("/" + target)
        if not made.agent.asked:
            self.assertIn(connection.take().status, (200, 400, 404))


class HealthTests(SynchronousTestCase):
    """/health."""

    def test_health(self) -> None:
        """It says that the dashboard lives, and which proxy it shows, without asking that one."""
        made = Dashboard()
        expected = {
            "ok": True,
            "service": "trafficmock-dashboard",
            "version": "1.2.3",
            "proxyUrl": PROXY,
        }
        self.assertEqual(made.ask("/health").json(), expected)
        self.assertEqual(made.agent.asked, [])


class AdmissionTests(SynchronousTestCase):
    """Who may come in."""

    def test_host(self) -> None:
        """A name that the dashboard does not have is refused at every path."""
        for target in ("/", "/health", "/api/history", "/state"):
            answer = Dashboard().ask(target, host="evil.example")
            self.assertEqual((answer.status, answer.json()["error"]), (403, "host_not_allowed"))
        allowed = Dashboard(guard=AccessPolicy(service=ThisService(allowed_hosts=["docker.host"])))
        self.assertEqual(allowed.ask("/", host="docker.host:4311").status, 200)

    def test_no_host(self) -> None:
        """HTTP/1.1 wants exactly one Host."""
        connection = Dashboard().open("/")
        connection.take()
        connection.send(b"GET / HTTP/1.1\r\n\r\n")
        self.assertEqual(connection.take().status, 400)

    def test_origin(self) -> None:
        """Pages of other origins get nothing, and no answer has CORS headers."""
        made = Dashboard(guard=AccessPolicy(service=ThisService(allowed_hosts=["docker.host"])))
        for origin in ("http://evil.example", "null", "http://docker.host:1"):
            answer = made.ask("/api/history", origin=origin, host="docker.host:4311")
            self.assertEqual((answer.status, answer.json()["error"]), (403, "origin_not_allowed"))
        for origin, host in (
            ("http://localhost:4311", "localhost:4311"),
            ("http://docker.host:4311", "docker.host:4311"),
        ):
            answer = made.ask("/health", origin=origin, host=host)
            self.assertEqual(answer.status, 200)
            self.assertEqual([n for n in answer.headers if n.startswith("access-control")], [])

    def test_other_machine(self) -> None:
        """Beyond loopback other machines see the recorded traffic with --open-history only."""
        far = {"peer": "10.0.0.2", "bound": "10.0.0.1", "host": "10.0.0.1:4311"}
        for target in ("/api/history", "/api/history/x/har", "/state"):
            made = Dashboard()
            answer = made.ask(target, **far)
            self.assertEqual((answer.status, answer.json()["error"]), (403, "history_not_open"))
            self.assertEqual(made.agent.asked, [])
        self.assertEqual(Dashboard().ask("/health", **far).status, 200)
        opened = Dashboard(guard=AccessPolicy(open_history=True))
        opened.open("/api/history", **far)
        self.assertEqual(len(opened.agent.asked), 1)
