"""``trafficmock status``."""

import json
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from tests.command.recorded_proxy import CommandTestCase
from trafficmock import __version__
from trafficmock.command.status import local_line, strict_lines

_NPM_ANSWERS = {
    "/health": {"ok": True, "version": "0.1.8", "protocolVersion": 3, "historyCapture": "all"},
    "/api/connections": {
        "nodeAgents": [{"clientId": "shop", "connectionId": "a"}],
        "playwrightWorkers": [
            {
                "clientId": "playwright-0",
                "connectionId": "b",
                "workerId": "0",
                "testCount": 2,
                "routeCount": 3,
            }
        ],
    },
    "/api/history": {"entries": []},
    "/api/ws": {"connections": []},
}


class _NpmAnswer(BaseHTTPRequestHandler):
    """Answers as the npm proxy 0.1.8."""

    def do_GET(self) -> None:
        answer = _NPM_ANSWERS.get(self.path.partition("?")[0])
        body = json.dumps(answer or {"error": "not_found"}).encode()
        self.send_response(200 if answer else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parent's name
        """Print nothing."""


class StatusTests(CommandTestCase):
    """The proxy at a glance."""

    def test_people(self) -> None:
        """Address, version, who is connected and what was done are there."""
        done = self.run_command("status")
        self.assertEqual(done.status, 0)
        self.check_clean(done)
        for words in (
            self.proxy.url,
            f"trafficmock {__version__}, protocol 3, capture all",
            "0  2 tests, 6 routes",
            "3 continue, ",
            "websockets  1 matched",
        ):
            self.assertIn(words, done.out)
        self.assertRegex(
            done.out, r"shop  node  since \d\d:\d\d:\d\d  pid 4711  node \\x1b.* server\.js\n"
        )

    def test_local(self) -> None:
        """It says whether agents decide by themselves, and about how many requests they did."""
        row = {"on": True, "asksAll": False, "passed": 0, "asked": 0}
        for change, words in (
            ({"on": False}, "off: agents ask about every request"),
            ({}, "on: agents pass what no route can match"),
            (
                {"passed": 9, "asked": 1},
                "route can match; 9 of 10 requests",
            ),
            ({"asksAll": True}, "on, but a route for any URL, or strict mode, has all requests "),
        ):
            self.assertIn(words, local_line(row | change))
        self.assertIn("local\x1b[0m       on", self.run_command("status", "--color", "always").out)

    def test_strict(self) -> None:
        """It says who is strict: the service, runs of workers, and how many tests."""
        workers = [
            {"workerId": "0", "clientId": "python-0", "strict": {"allow": ["a.test", "\x1b"]}},
            {"clientId": "python-1", "strictTestCount": 2},
            {"clientId": "python-2"},
        ]
        at = 1_700_000_000_000
        lost = [{"allow": ["b.test"], "until": at}]
        rows = {"strict": {"allow": []}, "runnerWorkers": workers, "lostRuns": lost}
        until = datetime.fromtimestamp(at / 1000).astimezone().strftime("%H:%M:%S")
        self.assertEqual(
            list(strict_lines(rows)),
            [
                "the service; allows nothing",
                r"what no test owns, by worker 0; allows a.test, \x1b",
                "2 tests of worker python-1",
                f"what no test owns, until {until}, of a run whose worker is gone; allows b.test",
            ],
        )
        self.assertNotIn("strict", self.run_command("status").out)

    def test_scripts(self) -> None:
        """``--json`` has the proxy's answers and the counts."""
        status = json.loads(self.run_command("status", "--json").out)
        self.assertEqual(status["health"], self.proxy.get("/health"))
        self.assertEqual(status["connections"], self.proxy.get("/api/connections"))
        self.assertEqual(
            (status["requests"]["continue"], status["webSockets"]), (3, {"matched": 1})
        )

    def test_npm_proxy(self) -> None:
        """The npm proxy has no ``runnerWorkers``: its workers are listed all the same."""
        server = HTTPServer(("127.0.0.1", 0), _NpmAnswer)
        self.addCleanup(server.server_close)
        thread = Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        done = self.run_command("status", "--proxy-url", url)
        self.assertEqual((done.status, done.err), (0, ""))
        for words in ("trafficmock 0.1.8", "agents      1", "shop", "0  2 tests, 3 routes"):
            self.assertIn(words, done.out)

    def test_nobody(self) -> None:
        """Where no proxy answers, status 3 and one line say what to do, for every command."""
        for words in (
            ["status"],
            ["history"],
            ["ws"],
            ["show", "x"],
            ["har", "x"],
            ["history", "-f"],
        ):
            done = self.run_command(*words, "--proxy-url", "http://127.0.0.1:2")
            self.assertEqual((done.status, done.out), (3, ""), words)
            self.assertRegex(
                done.err, r"\Atrafficmock .*no proxy answers .*trafficmock serve.*\n\Z"
            )
