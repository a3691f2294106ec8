"""What changed since a reader asked, by entity tags and by cursor, and who may read."""

from twisted.logger import capturedLogs, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from tests.server.rest.small_service import API, service
from tests.support.http_client import OWNER, PEM, Service, ids, record
from trafficmock import records
from trafficmock.certificates.files import CertificateError
from trafficmock.history.store import History
from trafficmock.http.access import AccessPolicy
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse


def _no_authority() -> bytes:
    raise CertificateError("cannot write /x")


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
