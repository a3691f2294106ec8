"""Messages that come out larger than any client takes."""

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    claims_socket,
    continue_,
    failure,
    fetch,
    fetched,
    fulfill,
    open_socket,
    predicate,
    report,
    request,
    response,
    text,
)
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.effects import Send
from trafficmock.records import Owner, RequestFailed, ResponseReported, SocketFailed
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError

OWNER = Owner("buys", "buys#1", "buys", "buys.spec.ts")
TOO_BIG = text("123 bytes", "100 bytes")


def posted(content: bytes) -> SerializedRequest:
    return request("http://h.test/a", "POST", content)


class OversizeTests(SynchronousTestCase):
    """A driver that finds every message of one kind too large."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker()
        self.test = self.worker.test()
        self.before = self.playbook.tables()

    def replaced(self, kind: type, *expected: object) -> None:
        """Check what goes in the place of the one message of a kind among the last effects."""
        sends = [each for each in self.playbook.take() if isinstance(each, Send)]
        (send,) = [each for each in sends if isinstance(each.message, kind)]
        self.playbook.too_big(send, 123, 100)
        self.playbook.expect(*expected)

    def dropped(self, send: Send) -> None:
        """Check that a message has no smaller form."""
        self.playbook.too_big(send, 123, 100)
        self.playbook.expect()
        self.assertIn("Dropped: ", self.playbook.notes[-1])

    def starts(self) -> None:
        self.agent.sends(inbound.RequestStart("r1", "app", posted(b"large")))

    def test_news(self) -> None:
        """What tells workers of a request loses its body, and then is dropped."""
        self.test.route(predicate())
        self.starts()
        effects = self.playbook.take()
        for send in (each for each in effects if isinstance(each, Send)):
            self.playbook.too_big(send, 123, 100)
            (smaller,) = self.playbook.take()
            assert isinstance(smaller, Send)
            assert isinstance(smaller.message, outbound.RequestObserved | outbound.RequestClaim)
            self.assertEqual(smaller.message.request, posted(b""))
            self.dropped(smaller)

    def test_responses(self) -> None:
        """What tells workers of a response loses its body; of a failure, its length."""
        self.starts()
        self.playbook.take()
        self.agent.sends(report("r1", response(200, b"large")))
        smaller = self.worker.gets(report("r1", response(200)))
        self.replaced(inbound.RequestResponse, smaller)
        self.dropped(smaller)
        self.starts()
        self.playbook.take()
        self.agent.sends(report("r1", failure("x" * 9999)))
        short = self.worker.gets(report("r1", SerializedError("Error", "x" * 2000)))
        self.replaced(inbound.RequestResponse, short)
        self.dropped(short)

    def test_match(self) -> None:
        """A request that cannot be handed to its owner fails, and the owner is told."""
        self.test.route("**")
        before = self.playbook.tables()
        self.starts()
        error = SerializedError("Error", TOO_BIG, code="internal")
        self.replaced(
            outbound.RequestMatched,
            RequestFailed("r1", OWNER, "internal", TOO_BIG, None),
            self.agent.gets(outbound.DecisionError("r1", "internal", TOO_BIG)),
            self.worker.gets(inbound.RequestResponse("r1", ok=False, error=error)),
            self.worker.gets(outbound.ProxyError("internal", TOO_BIG, "buys")),
        )
        self.assertEqual(self.playbook.tables(), before)

    def test_fetch(self) -> None:
        """A fetch, or the answer to one, that cannot be passed on is answered as failed."""
        self.test.route("**")
        self.starts()
        self.playbook.take()
        self.worker.sends(fetch())
        answer = outbound.FetchDone("r1", "f1", ok=False, error=SerializedError("Error", TOO_BIG))
        self.replaced(outbound.DecisionFetch, self.worker.gets(answer))
        self.worker.sends(fetch())
        self.playbook.take()
        self.agent.sends(fetched("r1", "f1", response(200, b"large")))
        (done,) = self.playbook.take()
        assert isinstance(done, Send)
        smaller = self.playbook.in_place_of(done, 123, 100)
        self.assertEqual(smaller, [self.worker.gets(answer)])

    def test_decisions(self) -> None:
        """A decision that cannot be passed on fails the application's call."""
        self.test.route("**")
        before = self.playbook.tables()
        refusal = self.agent.gets(outbound.DecisionError("r1", "internal", TOO_BIG))
        for message, more in (
            (fulfill(), []),
            (
                continue_(),
                [
                    ResponseReported("r1", None, SerializedError("Error", TOO_BIG)),
                    self.worker.gets(report("r1", SerializedError("Error", TOO_BIG))),
                ],
            ),
        ):
            self.starts()
            self.playbook.take()
            self.worker.sends(message)
            decision = next(e for e in self.playbook.take() if isinstance(e, Send))
            self.assertEqual(self.playbook.in_place_of(decision, 123, 100), [*more, refusal])
            self.assertEqual(self.playbook.tables(), before)

    def test_abort(self) -> None:
        """An abort loses its text."""
        self.dropped(self.agent.gets(outbound.DecisionPassthrough("r1")))
        long = self.agent.gets(outbound.DecisionAbort("r1", "failed", "x"))
        short = self.agent.gets(outbound.DecisionAbort("r1", "failed"))
        self.assertEqual(self.playbook.in_place_of(long, 123, 100), [short])

    def test_errors(self) -> None:
        """An error loses its details, and all but the beginning of its text."""
        playbook = self.playbook
        for long, short in (
            (
                outbound.DecisionError("r1", "internal", "x" * 9999, []),
                outbound.DecisionError("r1", "internal", "x" * 2000),
            ),
            (
                outbound.SocketError("s1", "internal", "x", []),
                outbound.SocketError("s1", "internal", "x"),
            ),
            (
                outbound.ProxyError("c", "x" * 9999, "t", ["y"]),
                outbound.ProxyError("c", "x" * 2000, "t"),
            ),
        ):
            smaller = playbook.in_place_of(self.agent.gets(long), 123, 100)
            self.assertEqual(smaller, [self.agent.gets(short)])
            self.dropped(self.agent.gets(short))

    def test_socket(self) -> None:
        """A WebSocket that cannot be handed to its owner fails."""
        self.test.route(SerializedMatcher(predicate=True), kind="websocket")
        self.agent.sends(open_socket())
        self.playbook.take()
        self.worker.sends(claims_socket("s1", "buys", "buys#1"))
        self.replaced(
            outbound.SocketMatched,
            SocketFailed("s1", OWNER, "internal", TOO_BIG, None),
            self.agent.gets(outbound.SocketError("s1", "internal", TOO_BIG)),
        )

    def test_socket_closed_early(self) -> None:
        """One that its application closed while tests were asked is only forgotten."""
        self.test.route(SerializedMatcher(predicate=True), kind="websocket")
        before = self.playbook.tables()
        self.agent.sends(open_socket())
        self.playbook.take()
        self.agent.sends(inbound.ClosePage("s1", was_clean=True))
        self.playbook.take()
        self.worker.sends(claims_socket("s1", "buys", "buys#1"))
        self.replaced(outbound.SocketMatched)
        self.assertEqual(self.playbook.tables(), before)

    def test_too_late(self) -> None:
        """What was settled in the meantime is no matter."""
        for send in (
            self.worker.gets(outbound.RequestMatched("gone", request(), "app", "q", "t")),
            self.agent.gets(outbound.DecisionFetch("gone", "f1")),
            self.worker.gets(outbound.SocketMatched("gone", "q", "t", "u", [], "app")),
        ):
            self.playbook.too_big(send, 123, 100)
            self.playbook.expect()


class HandlerBodyTests(SynchronousTestCase):
    """Bodies over the limit for handlers."""

    def test_limit(self) -> None:
        """A request with a larger body fails; the text names the option."""
        playbook = Playbook(self, evolve(SETTINGS, handler_body_bytes=5))
        agent, worker = playbook.agent(), playbook.worker()
        worker.test().route("**")
        before = playbook.tables()
        agent.sends(inbound.RequestStart("r1", "app", posted(b"123456")))
        message = text("6 bytes", "5 bytes", "--handler-body-bytes")
        _, _, record, decision, _, complaint = playbook.take()
        self.assertEqual(
            record, playbook.with_route(RequestFailed("r1", OWNER, "internal", message, None))
        )
        self.assertEqual(decision, agent.gets(outbound.DecisionError("r1", "internal", message)))
        self.assertEqual(complaint, worker.gets(outbound.ProxyError("internal", message, "buys")))
        self.assertEqual(playbook.tables(), before)
        agent.sends(inbound.RequestStart("r1", "app", posted(b"12345")))
        self.assertEqual(len(playbook.take()), 3)

    def test_no_limit(self) -> None:
        """0 is no limit, and what nobody owns has none."""
        for limit in (0, 1):
            playbook = Playbook(self, evolve(SETTINGS, handler_body_bytes=limit))
            agent, worker = playbook.agent(), playbook.worker()
            worker.test().route("**" if not limit else "http://other.test/")
            agent.sends(inbound.RequestStart("r1", "app", posted(b"x" * 1000)))
            self.assertNotIn("RequestFailed", str(playbook.take()))
