"""The REST API through the real site: what each path answers."""

import json

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.logger import capturedLogs, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import OWNER, PEM, Answer, Service, ids, record
from trafficmock import records
from trafficmock.certificates.files import CertificateError
from trafficmock.history.har_export import to_har
from trafficmock.history.store import History
from trafficmock.http.access import AccessPolicy
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

API = ["/health", "/api/history", "/api/ws", "/api/connections"]
API += ["/api/history/a", "/api/history/a/har", "/api/ws/s"]
ABSENT = ["/", "/api", "/api/", "/health/", "/api/history/", "/api/ws/", "/api/history/a/"]
ABSENT += ["/api/history/a/har/", "/api/history//har", "//", "//health", "/api//history"]
ABSENT += ["/API/history", "/%68ealth", "/api/history/a/b", "/ws/", "/wsx", "/health%2F"]


def service() -> Service:
    """Make a service that remembers a mocked request ``a`` and a WebSocket ``s``."""
    made = Service()
    record(made.history, "a", "http://api.test/a", b"question")
    made.history.record(records.SocketSeen("s", "api", "ws://api.test/s", []), 2000)
    made.history.record(records.SocketOwned("s", OWNER), 2001)
    return made


def _no_authority() -> bytes:
    raise CertificateError("cannot write /x")


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


class ConditionalTests(SynchronousTestCase):
    """Entity tags on lists and entries."""

    PATHS = ("/api/history", "/api/history?q=a&fields=summary", "/api/history/a", "/api/ws/s")

    def test_current(self) -> None:
        """A client that has the newest answer gets 304 without a body, with tag and CORS."""
        made = service()
        for path in self.PATHS:
            tag = made.ask(path).headers["etag"]
            for given_tags in (tag, f'W/{tag}, "other"', "*"):
                answer = made.ask(path, if_none_match=given_tags)
                self.assertEqual((answer.status, answer.body), (304, b""), path)
                self.assertEqual(answer.headers["etag"], tag)
                self.assertEqual(answer.headers["access-control-allow-origin"], "*")
                self.assertNotIn("content-length", answer.headers)
                self.assertNotIn("content-type", answer.headers)

    def test_changed(self) -> None:
        """A list's tag changes with any entry, an entry's only with that entry."""
        made = service()
        before = {path: made.ask(path).headers["etag"] for path in self.PATHS}
        record(made.history, "b", answered=False)
        made.history.record(records.RequestPassedThrough("b"), 9)
        after = {path: made.ask(path).headers["etag"] for path in self.PATHS}
        changed = [path for path in self.PATHS if before[path] != after[path]]
        self.assertEqual(changed, list(self.PATHS[:2]))
        record(made.history, "a")
        self.assertNotEqual(made.ask("/api/history/a").headers["etag"], before["/api/history/a"])

    def test_bad_requests_first(self) -> None:
        """A tag does not hide an unknown id or a bad parameter."""
        made = service()
        self.assertEqual(made.ask("/api/history/x", if_none_match="*").status, 404)
        self.assertEqual(made.ask("/api/history?limit=x", if_none_match="*").status, 400)


class ChangesTests(SynchronousTestCase):
    """Lists of what changed."""

    def changes(self, made: Service, tag: str) -> tuple[list[str] | None, list[str]]:
        answer = made.ask(f"/api/history?fields=summary&since={tag}")
        return answer.json().get("removed"), list(ids(answer))

    def test_changes(self) -> None:
        """Since a tag, new and changed entries are listed, and the ids of those that are gone."""
        made = Service(history=History(http_limit=3))
        for name in "abc":
            record(made.history, name, answered=name != "b")
        tag = made.ask("/api/history").headers["etag"]
        self.assertEqual(self.changes(made, tag), ([], []))
        made.history.record(records.RequestPassedThrough("b"), 9)
        self.assertEqual(self.changes(made, tag), ([], ["b"]))
        record(made.history, "d")
        self.assertEqual(self.changes(made, tag), (["a"], ["d", "b"]))

    def test_unknown_tag(self) -> None:
        """Since a tag of another start, or anything that is no tag, the list is whole."""
        made = service()
        for tag in ('"other-1"', "x", '"', "%22", "test-ffffffffffff"):
            self.assertEqual(self.changes(made, tag), (None, ["a"]))

    def test_upstream_error(self) -> None:
        """A summary says that upstream failed, until a later answer came."""
        made = service()
        record(made.history, "p", answered=False)
        made.history.record(records.RequestPassedThrough("p"), 2)
        made.history.record(
            records.ResponseReported("p", None, SerializedError("Error", "refused")), 3
        )
        summary = made.ask("/api/history?fields=summary&limit=1").json()["entries"][0]
        self.assertEqual(summary["upstreamError"], "refused")
        made.history.record(records.ResponseReported("p", OK, None), 4)
        summary = made.ask("/api/history?fields=summary&limit=1").json()["entries"][0]
        self.assertNotIn("upstreamError", summary)

    def test_handler_error(self) -> None:
        """A summary says what a handler raised; not what it chose, nor that the client gave up."""
        for code, detail, said in (
            ("failed", "TypeError: x", "TypeError: x"),
            ("failed", "failed", None),
            ("failed", "", None),
            ("aborted", "The client gave it up.", None),
        ):
            made = service()
            record(made.history, "p", answered=False)
            made.history.record(records.RequestAborted("p", OWNER, code, detail), 2)
            summary = made.ask("/api/history?fields=summary&limit=1").json()["entries"][0]
            self.assertEqual(summary.get("handlerError"), said)

    def test_tests_of_workers(self) -> None:
        """``fields=tests`` reaches the report, and another value is a 400."""
        self.assertEqual(service().ask("/api/connections?fields=tests").status, 200)
        self.assertEqual(service().ask("/api/connections?fields=summary").status, 400)


OK = SerializedResponse(200, "OK", {}, body.NULL)


class SharingTests(SynchronousTestCase):
    """Which pages and machines may read."""

    def test_preflight(self) -> None:
        """OPTIONS is 204 on every path of the API, also for unknown ids, without a body."""
        for path in [*API, "/api/history/nope", "/api/ws/nope/", "/api/history/%zz/har"]:
            answer = service().ask(path, method="OPTIONS", origin="http://localhost:3000")
            if path.endswith("/"):
                self.assertEqual(answer.status, 404, path)
                continue
            self.assertEqual((answer.status, answer.body), (204, b""), path)
            shared = "http://localhost:3000"
            self.assertEqual(answer.headers["access-control-allow-origin"], shared)
            self.assertEqual(answer.headers["access-control-allow-methods"], "GET, HEAD, OPTIONS")
            self.assertEqual(answer.headers["access-control-allow-headers"], "content-type")
            self.assertEqual(answer.headers["vary"], "Origin")

    def test_foreign_page(self) -> None:
        """A foreign page gets no CORS header, whatever the answer is."""
        for path in [*API, "/api/history/nope", "/api/history?limit=x"]:
            headers = service().ask(path, origin="http://evil.example").headers
            self.assertFalse([name for name in headers if name.startswith("access-control")], path)

    def test_other_machine(self) -> None:
        """Beyond loopback another machine gets the health and nothing else."""
        far = {"peer": "10.0.0.2", "bound": "10.0.0.1", "host": "10.0.0.1:4310"}
        self.assertEqual(service().ask("/health", **far).status, 200)
        for path in API[1:]:
            answer = service().ask(path, **far)
            self.assertEqual((answer.status, answer.json()["error"]), (403, "history_not_open"))

    def test_certificate(self) -> None:
        """The authority's certificate is for whoever asks, to be kept as a file; HEAD as well."""
        far = {"peer": "10.0.0.2", "bound": "10.0.0.1", "host": "10.0.0.1:4310"}
        for method in ("GET", "HEAD"):
            answer = service().ask("/ca.pem", method=method, **far)
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.headers["content-type"], "application/x-pem-file")
            self.assertEqual(answer.headers["content-length"], str(len(PEM)))
            self.assertEqual(answer.body, PEM if method == "GET" else b"")

    def test_no_certificate(self) -> None:
        """An authority that cannot be used is an error that says why, here and in the log."""
        made = service()
        made.ca_pem = _no_authority
        logs = self.enterContext(capturedLogs())
        answer = made.ask("/ca.pem")
        self.assertEqual(answer.status, 500)
        message = {"error": "ca_unavailable", "message": "cannot write /x"}
        self.assertEqual(answer.json(), message)
        self.assertEqual([formatEvent(event) for event in logs], ["cannot write /x"])

    def test_open_history(self) -> None:
        """``--open-history`` lets other machines read."""
        made = Service(guard=AccessPolicy(open_history=True))
        answer = made.ask("/api/history", peer="10.0.0.2", bound="10.0.0.1", host="10.0.0.1")
        self.assertEqual(answer.status, 200)
