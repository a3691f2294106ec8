"""What is copied works: commands and calls make the same request, routes give the same answer."""

import base64
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field

from tests.dashboard.fixtures.browser import BrowserTestCase
from tests.dashboard.fixtures.clients import b64

BODIES: list[bytes] = [
    b"",
    b'{"a": "it\'s $HOME `x` \\\\ \\n"}',
    "na\u00efve \u2028 \u202e".encode(),
    b"line\r\nline\ttab!",
    bytes(range(256)),
]
ODD = 'it\'s "quoted" $HOME `id` \\ back'


@define
class Echo:
    """A server that remembers what it was asked."""

    asked: list[tuple[str, str, dict[str, str], bytes]] = field(factory=list)
    server: Any = None

    def start(self) -> str:
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked.append((self.command, self.path, headers, self.rfile.read(length)))
                self.send_response(204)
                self.send_header("access-control-allow-origin", "*")
                self.end_headers()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the library's

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"


class Fulfilled:
    """Stands for ``route``, and for ``trafficmock``, in a route that was copied."""

    def __init__(self) -> None:
        self.routed: list[Any] = []
        self.answers: list[dict[str, Any]] = []

    def route(self, url: str, handler: Any, *, method: str) -> None:
        self.routed.append((url, method))
        handler(self, None)

    def fulfill(self, **answer: Any) -> None:
        self.answers.append(answer)

    def abort(self, code: str) -> None:
        self.answers.append({"abort": code})


def run_in_node(script: str) -> str:
    """Run a module; give what it printed."""
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", script],  # noqa: S607 - the one on the path
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    if done.stderr:
        raise AssertionError(done.stderr)
    return done.stdout


class CopyTests(BrowserTestCase):
    """Copies, in use."""

    def setUp(self) -> None:
        super().setUp()
        self.page = self.look()
        self.echo = Echo()
        self.base = self.echo.start()
        self.addCleanup(self.echo.server.server_close)
        self.addCleanup(self.echo.server.shutdown)

    def made(self, module: str, name: str, value: Any) -> str:
        """Let the page's own module make a copy."""
        script = f"async (value) => (await import('/js/copy/{module}.js')).{name}(value)"
        text: str = self.page.evaluate(script, value)
        return text

    def request(self, method: str, body: bytes) -> dict[str, Any]:
        return {
            "url": f"{self.base}/a%20b/'x'?q=$HOME&r=%60id%60",
            "method": method,
            "headers": {"x-odd": ODD, "content-type": "application/x-test", "host": "gone"},
            "bodyBase64": b64(body) if body else None,
        }

    def check(self, method: str, body: bytes) -> None:
        got = self.echo.asked.pop()
        path = "/a%20b/'x'?q=$HOME&r=%60id%60"
        self.assertEqual((got[0], got[1].replace("%27", "'"), got[3]), (method, path, body))
        self.assertEqual(got[2]["x-odd"], ODD)
        self.assertEqual(got[2]["content-type"], "application/x-test")
        self.assertNotEqual(got[2]["host"], "gone")

    def test_curl(self) -> None:
        """As cURL, the request is the same, whatever its method, headers and body hold."""
        for body in BODIES:
            for method in ("POST", "PUT") if body else ("GET", "DELETE"):
                command = self.made("request", "asCurl", self.request(method, body))
                self.run_in_shell(command)
                self.check(method, body)

    def test_curl_mark(self) -> None:
        """The mark of a secret in a URL is no range of curl's."""
        url = f"{self.base}/login?token=[redacted:55a60a1f]&of={{a,b}}"
        command = self.made("request", "asCurl", {"url": url, "method": "GET", "headers": {}})
        self.run_in_shell(command)
        self.assertEqual([asked[1] for asked in self.echo.asked], [url.removeprefix(self.base)])

    def run_in_shell(self, command: str) -> None:
        subprocess.run(
            ["bash", "-c", f"{command} --silent --noproxy '*'"],  # noqa: S607 - the one on the path
            check=True,
            timeout=30,
        )

    def test_fetch(self) -> None:
        """As fetch, the request is the same."""
        methods = ["PUT" if body else "GET" for body in BODIES]
        calls = [
            self.made("request", "asFetch", self.request(method, body))
            for method, body in zip(methods, BODIES, strict=True)
        ]
        run_in_node("".join(f"await (async () => {{ {call} }})();" for call in reversed(calls)))
        for method, body in zip(methods, BODIES, strict=True):
            self.check(method, body)

    def entry(self, body: bytes, content_type: str) -> dict[str, Any]:
        headers = {"content-type": content_type}
        answer = {"status": 201, "headers": headers, "bodyBase64": b64(body) if body else None}
        return {
            "action": "passthrough",
            "request": {"url": "http://h.test/{a}*?b=1#c", "method": "POST", "headers": {}},
            "outcome": {"response": answer},
        }

    def test_python_route(self) -> None:
        """As a route for Python, it is for this URL and method, and gives the same answer."""
        json_body = b'{"a": [1, true, null, "\\u00e9", {}], "b": {"c": "\'\\"\\\\"}}'
        cases = [(body, "text/plain") for body in BODIES] + [(json_body, "application/json")]
        for body, content_type in cases:
            code = self.made("route", "asPython", self.entry(body, content_type))
            stub = Fulfilled()
            exec(compile(code, "copied", "exec"), {"trafficmock": stub})  # noqa: S102 - the point
            self.assertEqual(stub.routed, [("http://h.test/\\{a\\}\\*?b=1", "POST")])
            (answer,) = stub.answers
            self.assertEqual(answer["status"], 201)
            if content_type == "application/json":
                wanted: dict[str, Any] = {"a": [1, True, None, "\u00e9", {}], "b": {"c": "'\"\\"}}
                self.assertEqual(answer["json"], wanted)
                continue
            given = answer.get("body", b"")
            self.assertEqual(given.encode() if isinstance(given, str) else given, body)
            self.assertEqual(answer["content_type"], content_type)

    def test_javascript_route(self) -> None:
        """As a route for JavaScript, it is for this URL and method, and gives the same answer."""
        stubs = (
            "const route = { fulfill: (answer) => console.log(JSON.stringify([answer.status,"
            " answer.contentType, Buffer.from(answer.body ?? '').toString('base64')])) };"
            "const backendMocks = { route: async (matcher, handler) => {"
            " console.log(JSON.stringify(matcher)); handler(route); } };"
        )
        made = [
            self.made("route", "asJavaScript", self.entry(body, "text/plain")) for body in BODIES
        ]
        lines = iter(run_in_node(stubs + "".join(f"{{ {code} }}" for code in made)).splitlines())
        for body, matcher, answer in zip(BODIES, lines, lines, strict=True):
            self.assertEqual(matcher, r'{"url":"http://h.test/\\{a\\}\\*?b=1","method":"POST"}')
            expected = base64.b64encode(body).decode()
            self.assertEqual(answer, f'[201,"text/plain","{expected}"]')

    def test_abort(self) -> None:
        """Of an aborted request the route aborts likewise."""
        entry = {
            "action": "abort",
            "request": {"url": "http://h.test/", "method": "GET", "headers": {}},
            "outcome": {"errorCode": "timedout"},
        }
        stub = Fulfilled()
        code = self.made("route", "asPython", entry)
        exec(compile(code, "copied", "exec"), {"trafficmock": stub})  # noqa: S102 - the point
        self.assertEqual(stub.answers, [{"abort": "timedout"}])
        self.assertIn('route.abort("timedout")', self.made("route", "asJavaScript", entry))
