"""What a session prints of URLs is what the proxy says that it may print."""

from asyncio import CancelledError

from msgspec import Raw, structs
from msgspec.json import encode
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import ManualAdapter, SessionHarness, request, response
from trafficmock.testing.errors import IsolationError, UsageError
from trafficmock.testing.objects.blocking.response import Response
from trafficmock.testing.objects.blocking.websocket_route import WebSocketRoute
from trafficmock.testing.session.arguments.request_overrides import check_scheme
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions, overrides_of
from trafficmock.testing.session.observation.request_state import ResponseState
from trafficmock.testing.session.session import TestInfo
from trafficmock.wire import outbound
from trafficmock.wire.inbound import RequestClaimResult, SocketClaimResult

KEPT = {"clientId": "app", "outcome": {"kind": "pending"}}
URL = "https://h.test/a?token=s-4711"
SHOWN = "https://h.test/a?token=[redacted:0]"


class ShownUrlTests(SynchronousTestCase):
    """Each place that names a URL; :mod:`tests.server.test_shown_urls` is about the proxy."""

    def setUp(self) -> None:
        self.harness = SessionHarness()

    def test_requests(self) -> None:
        """Texts about a request, its response, and a copy for a fetch."""
        self.harness.receive(outbound.RequestObserved("r1", request(URL), "app", shown_url=SHOWN))
        state = self.harness.session.traffic.requests["r1"]
        self.assertEqual(str(state), f"GET {SHOWN}")
        self.assertEqual(str(state.copy()), f"GET {SHOWN}")
        self.assertEqual(state.url, URL)
        answer = ResponseState(state, structs.replace(response(), truncated=True))
        with self.assertRaises(UsageError) as caught:
            answer.read()
        shown = (repr(state), repr(Response(answer, ManualAdapter())), str(caught.exception))
        for text in shown:
            self.assertIn(SHOWN, text)
            self.assertNotIn("s-4711", text)

    def test_without_secrets(self) -> None:
        """A URL of which the proxy says nothing else has no secrets."""
        self.harness.observed("r1", "https://h.test/a?page=1")
        state = self.harness.session.traffic.requests["r1"]
        self.assertEqual(str(state), "GET https://h.test/a?page=1")

    def test_later_handler(self) -> None:
        """A request with the changes of a handler is shown as the next one gets it."""
        self.harness.receive(outbound.RequestObserved("r1", request("https://h.test/b"), "app"))
        entry = self.harness.route(lambda _, done: done(None, None))
        self.harness.receive(
            outbound.HandlerRun("r1", request(URL), "app", "run", entry.id, "t1", shown_url=SHOWN)
        )
        state = self.harness.session.traffic.requests["r1"]
        self.assertEqual(str(state), f"GET {SHOWN}")

    def test_recorded(self) -> None:
        """So is what only the history has."""
        rows = [
            Raw(encode({**KEPT, "id": key, "request": request(url)}))
            for key, url in (("r2", URL), ("r1", "https://h.test/"))
        ]
        result = outbound.HistoryResult("q", rows, "all", shown_urls=[SHOWN, ""])
        found = self.harness.session.recorded.merge(result)
        self.assertEqual([str(each) for each in found], ["GET https://h.test/", f"GET {SHOWN}"])

    def test_context(self) -> None:
        """The error of a request without the context of a test that requires it."""
        self.harness = SessionHarness(info=TestInfo(isolation="required"))
        entry = self.harness.route(lambda _, done: done(None, None))
        run = outbound.HandlerRun("r1", request(URL), "app", "run", entry.id, "t1", shown_url=SHOWN)
        self.harness.receive(run)
        (error,) = self.harness.session.errors
        assert isinstance(error, IsolationError)
        self.assertIn(SHOWN, str(error))
        self.assertNotIn("s-4711", str(error))

    def test_predicates(self) -> None:
        """A predicate that fails, and the handler of a WebSocket."""
        session = self.harness.session

        def fails(_: str) -> bool:
            raise ValueError("no")

        entry = self.harness.route(None, fails)
        claim = outbound.RequestClaim(
            "r1", request(URL), "app", test_id="t1", route_ids=[entry.id], shown_url=SHOWN
        )
        self.harness.receive(claim)
        session.sockets.add(make_matcher(fails), fails)
        socket = session.sockets.entries[0]
        asked = outbound.SocketClaim("s1", URL, [], "app", route_ids=[socket.id], shown_url=SHOWN)
        self.harness.receive(structs.replace(asked, test_id="t1"))
        errors = [error.__notes__ for error in session.errors]
        self.assertEqual(len(errors), 2)
        for (note,) in errors:
            self.assertIn(f", asked about {SHOWN}", note)

    def test_ending_predicates(self) -> None:
        """An error that is no ``Exception``, or that has no text, is the test's as well."""

        class Silent(BaseException):
            def __str__(self) -> str:
                raise LookupError

        for kind, kept_kind in (
            (SystemExit, SystemExit),
            (KeyboardInterrupt, KeyboardInterrupt),
            (GeneratorExit, GeneratorExit),
            (CancelledError, CancelledError),
            (StopIteration, RuntimeError),
            (Silent, RuntimeError),
        ):
            with self.subTest(kind=kind):
                self.setUp()

                def raises(_: str, kind: type[BaseException] = kind) -> bool:
                    raise kind

                session = self.harness.session
                entry = self.harness.route(None, raises)
                self.harness.receive(
                    outbound.RequestClaim(
                        "r1", request(URL), "app", test_id="t1", route_ids=[entry.id]
                    )
                )
                session.sockets.add(make_matcher(raises), raises)
                socket = session.sockets.entries[0].id
                self.harness.receive(
                    outbound.SocketClaim("s1", URL, [], "app", test_id="t1", route_ids=[socket])
                )
                self.assertEqual([type(each) for each in session.errors], [kept_kind] * 2)
                results = (RequestClaimResult, SocketClaimResult)
                given = [each for each in self.harness.take() if isinstance(each, results)]
                self.assertEqual([each.matches for each in given], [[], []])

    def test_sockets(self) -> None:
        """A WebSocket of the test."""
        session = self.harness.session
        session.sockets.add(make_matcher("**"), lambda _, done: done(None, OSError("no")))
        (entry,) = session.sockets.entries
        self.harness.receive(
            outbound.SocketMatched("s1", entry.id, "t1", URL, [], "app", shown_url=SHOWN)
        )
        socket = session.sockets.sockets["s1"]
        (error,) = session.errors
        socket.connect(socket.page)
        with self.assertRaises(UsageError) as again:
            socket.connect(socket.page)
        for text in (
            *error.__notes__,
            str(again.exception),
            repr(WebSocketRoute(socket.page, ManualAdapter())),
        ):
            self.assertIn(SHOWN, text)
            self.assertNotIn("s-4711", text)

    def test_own(self) -> None:
        """Of a text that the test wrote, and that is no URL, there is no query."""
        wrong = "https://[h.test/a?token=s-4711"
        for use in (
            lambda: check_scheme(URL, SHOWN, wrong),
            lambda: overrides_of(FetchOptions(url=wrong), URL),
        ):
            with self.assertRaises(UsageError) as caught:
                use()
            self.assertEqual(str(caught.exception), "invalid URL: 'https://[h.test/a?…'")
        with self.assertRaises(UsageError) as caught:
            check_scheme(URL, SHOWN, "ws://h.test/?token=s-4711")
        self.assertTrue(str(caught.exception).endswith(f": 'ws:' for {SHOWN}"))
