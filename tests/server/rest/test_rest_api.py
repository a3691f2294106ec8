"""The REST API through the real site: what each path answers."""

import json

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.server.rest.small_service import API, service
from tests.support.http_client import Answer, Service, ids, record
from trafficmock.history.har.har_export import to_har
from trafficmock.history.store import History

ABSENT = ["/", "/api", "/api/", "/health/", "/api/history/", "/api/ws/", "/api/history/a/"]
ABSENT += ["/api/history/a/har/", "/api/history//har", "//", "//health", "/api//history"]
ABSENT += ["/API/history", "/%68ealth", "/api/history/a/b", "/ws/", "/wsx", "/health%2F"]


class RestTests(SynchronousTestCase):
    """Paths, methods and bodies."""

    def assert_error(self, answer: Answer, status: int, code: str) -> None:
        self.assertEqual(answer.status, status)
        self.assertEqual(answer.json()["error"], code)
        keys = {"error"} if status == 404 else {"error", "message"}
        self.assertEqual(set(answer.json()), keys)
        self.assertEqual(answer.headers["content-type"], "application/json; charset=utf-8")

    def test_health(self) -> None:
        """/health says that we live, and which protocol and capture mode it is."""
        expected = {"ok": True, "version": "1.2.3", "protocolVersion": 3, "historyCapture": "all"}
        answer = service().ask("/health")
        self.assertEqual((answer.status, answer.json()), (200, expected))

    def test_common_headers(self) -> None:
        """Every answer is JSON with its length, is not to be stored, and names the server."""
        for path in API:
            answer = service().ask(path)
            self.assertEqual(answer.status, 200, path)
            self.assertEqual(answer.headers["content-type"], "application/json; charset=utf-8")
            self.assertEqual(answer.headers["content-length"], str(len(answer.body)))
            self.assertEqual(answer.headers["cache-control"], "no-store")
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
            self.assertEqual(answer.headers["cross-origin-resource-policy"], "same-origin")
            self.assertEqual(answer.headers["server"], "trafficmock/1.2.3")

    def test_connections(self) -> None:
        """Workers are listed under both names, agents under theirs; text of any kind survives."""
        made = service()
        rows = made.ask("/api/connections").json()
        self.assertEqual([row["clientId"] for row in rows["nodeAgents"]], ["api"])
        self.assertEqual(rows["runnerWorkers"][0]["routeCount"], 2)
        self.assertEqual(rows["playwrightWorkers"], rows["runnerWorkers"])
        made.report = lambda: {"nodeAgents": [{"clientId": "\ud800é"}], "runnerWorkers": []}
        self.assertIn(b"\\ud800\\u00e9", made.ask("/api/connections").body)

    def test_history(self) -> None:
        """The list is wrapped and newest first; one entry is wrapped in ``entry``."""
        made = service()
        record(made.history, "b")
        answer = made.ask("/api/history")
        self.assertEqual(list(ids(answer)), ["b", "a"])
        one = made.ask("/api/history/a").json()
        self.assertEqual(one, {"entry": answer.json()["entries"][1]})
        self.assertEqual(one["entry"]["outcome"]["response"]["bodyBase64"], "aGk=")

    def test_sockets(self) -> None:
        """WebSockets are listed in ``connections``; one is wrapped in ``connection``."""
        made = service()
        rows = made.ask("/api/ws").json()["connections"]
        self.assertEqual([row["outcome"] for row in rows], ["matched"])
        self.assertEqual(made.ask("/api/ws/s").json(), {"connection": rows[0]})

    def test_queries(self) -> None:
        """Filters, search and paging reach the history; unknown values are an empty list."""
        made = service()
        for n in range(5):
            record(made.history, f"n{n}", f"http://api.test/n{n}", at=3000 + n)
        for query, expected in {
            "limit=2&offset=1": ["n3", "n2"],
            "from=3001&to=3002": ["n2", "n1"],
            "q=QUESTION": ["a"],
            "q=api.test/n4&limit=1": ["n4"],
            "action=nothing": [],
            "limit=0": [],
            "testId=&limit=": ["n4", "n3", "n2", "n1", "n0", "a"],
        }.items():
            self.assertEqual(list(ids(made.ask(f"/api/history?{query}"))), expected, query)
        self.assertEqual(list(ids(made.ask("/api/ws?action=matched"), "connections")), ["s"])
        self.assertEqual(made.ask("/api/ws?q=nowhere").json(), {"connections": []})

    def test_summary(self) -> None:
        """``fields=summary`` leaves bodies, headers and events out, for both lists."""
        for path, name in (("/api/history", "entries"), ("/api/ws", "connections")):
            (row,) = service().ask(f"{path}?fields=summary").json()[name]
            text = json.dumps(row)
            for key in ("bodyBase64", "headers", "events"):
                self.assertNotIn(key, text)
            self.assertIn("url", text)

    def test_long_summary(self) -> None:
        """A list of many groups of summaries is one sound list."""
        made = Service()
        for n in range(101):
            record(made.history, f"n{n}", at=n)
        listed = list(ids(made.ask("/api/history?fields=summary")))
        self.assertEqual(listed, [f"n{n}" for n in reversed(range(101))])

    def test_invalid_parameter(self) -> None:
        """A bad number is a 400 that names the parameter, on both lists."""
        for path in ("/api/history", "/api/ws"):
            answer = service().ask(f"{path}?limit=abc")
            self.assert_error(answer, 400, "invalid_parameter")
            self.assertIn("limit", answer.json()["message"])

    def test_ids(self) -> None:
        """An id is one segment, decoded after splitting; a query behind it is ignored."""
        made = service()
        record(made.history, "a/b c%é")
        answer = made.ask("/api/history/a%2Fb%20c%25%C3%A9?x=1")
        self.assertEqual(answer.json()["entry"]["id"], "a/b c%é")

    def test_not_found(self) -> None:
        """Unknown ids, bad escapes and unmatched paths are 404; only the first have CORS."""
        for path in ("nope", "%zz", "%", "%ff", "a%2"):
            for target in (f"/api/history/{path}", f"/api/history/{path}/har", f"/api/ws/{path}"):
                answer = service().ask(target)
                self.assert_error(answer, 404, "not_found")
                self.assertEqual(answer.headers["access-control-allow-origin"], "*", target)
        for path in ABSENT:
            for method in ("GET", "OPTIONS", "POST"):
                answer = service().ask(path, method=method)
                self.assert_error(answer, 404, "not_found")
                self.assertNotIn("access-control-allow-origin", answer.headers, path)

    def test_wrong_method(self) -> None:
        """Another method on a path of the API is 405 and says which are allowed."""
        for path in API:
            for method in ("POST", "DELETE", "PUT", "X-ANY"):
                answer = service().ask(path, method=method)
                self.assert_error(answer, 405, "method_not_allowed")
                self.assertEqual(answer.headers["allow"], "GET, HEAD, OPTIONS")
                self.assertEqual(answer.headers["access-control-allow-origin"], "*")

    def test_method_case(self) -> None:
        """Methods are case-sensitive: ``get`` is another one."""
        for method in ("get", "Head", "oPTIONS"):
            answer = service().ask("/health", method=method)
            self.assert_error(answer, 405, "method_not_allowed")

    def test_head(self) -> None:
        """HEAD answers like GET, without the body."""
        for path in [*API, *ABSENT, "/api/ws?limit=x", "/ws", "/api/history?q=question"]:
            got, head = service().ask(path), service().ask(path, method="HEAD")
            del got.headers["date"], head.headers["date"]
            self.assertEqual((head.status, head.headers), (got.status, got.headers), path)
            self.assertEqual(head.body, b"", path)

    def test_request_body_is_ignored(self) -> None:
        """A body that nobody wants is read and forgotten, and the connection goes on."""
        connection = service().connect()
        body = b"x" * 300_000
        connection.send(
            b"POST /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
        )
        connection.send(body)
        self.assertEqual(connection.take().status, 405)
        connection.send(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        self.assertEqual(connection.take().status, 200)

    def test_capture_none(self) -> None:
        """Without a history, health and connections answer and the lists are empty."""
        made = Service(history=History(capture="none"))
        record(made.history, "a")
        self.assertEqual(made.ask("/health").json()["historyCapture"], "none")
        self.assertEqual(made.ask("/api/connections").status, 200)
        self.assertEqual(made.ask("/api/history").body, b'{"entries":[]}')

    def test_fault(self) -> None:
        """An internal error is a 500 in the common shape, logged, without a traceback in it."""
        made = service()
        made.report = dict
        self.assert_error(made.ask("/api/connections"), 500, "internal")
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)

    @given(
        st.sampled_from(["/api/history/", "/api/ws/", "/api/history?", "/", "/api/ws?", "/health"]),
        st.text(alphabet="%/?&=;#+.,:|<>{}\\^`ab01xF-_~*!$'()@[]\"", max_size=30),
    )
    @example("/", "/health")
    @example("/api/history/", "%2e%2e/har")
    def test_any_target(self, prefix: str, rest: str) -> None:
        """Whatever is asked for, the answer is one of the documented ones."""
        answer = service().ask(prefix + rest)
        self.assertIn(answer.status, (200, 400, 404))
        self.assertIsInstance(answer.json(), dict)


class HarTests(SynchronousTestCase):
    """Downloads of one entry."""

    def test_download(self) -> None:
        """It is indented by two, and named after the entry with odd characters replaced."""
        made = service()
        record(made.history, 'x/"y')
        answer = made.ask("/api/history/x%2F%22y/har")
        entry = made.history.requests.get('x/"y')
        assert entry is not None
        expected = json.dumps(to_har(entry, version="1.2.3"), indent=2).encode()
        self.assertEqual(answer.body, expected)
        disposition = 'attachment; filename="trafficmock-x_y.har"'
        self.assertEqual(answer.headers["content-disposition"], disposition)

    def test_unavailable(self) -> None:
        """Without a response it is 409 with exactly the error and nothing else."""
        made = service()
        record(made.history, "p", answered=False)
        answer = made.ask("/api/history/p/har")
        self.assertEqual((answer.status, answer.body), (409, b'{"error":"har_unavailable"}'))
