"""The addition ``stream``: requests and responses that are announced before their bodies."""

from attrs import evolve
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    claims,
    continue_,
    decline,
    failure,
    fulfill,
    glob,
    observe,
    predicate,
    redirect,
    report,
    request,
    response,
    start,
    text,
)
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.core.http import response_reports
from trafficmock.records import (
    HopSeen,
    Owner,
    RequestAborted,
    RequestBodyCame,
    RequestFailed,
    RequestPassedThrough,
    RequestSeen,
    ResponseReported,
)
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError

URL = "http://h.test/a"
OWNER = Owner("buys", "buys#1", "buys", "buys.spec.ts")
HEAD = request(URL, "POST")
WHOLE = request(URL, "POST", b"hello")
CUT_OFF = SerializedRequest(URL, "POST", {}, body.NULL, truncated=True)
NEED = outbound.NeedBody("r1")
PASS = outbound.DecisionPassthrough("r1")
ABORTED = SerializedError("AbortError", "closed", code="aborted")


def announce(request_id: str = "r1") -> inbound.RequestStart:
    return inbound.RequestStart(request_id, "app", HEAD, body_pending=True)


def brings(
    content: bytes = b"hello", *, size: int | None = None, request_id: str = "r1"
) -> inbound.RequestBody:
    """Write the message with a body; with ``size`` it is only a part."""
    raw = body.from_bytes(content)
    if size is None:
        return inbound.RequestBody(request_id, raw)
    return inbound.RequestBody(request_id, raw, truncated=True, body_size=size)


def observed(asked: SerializedRequest = WHOLE) -> outbound.RequestObserved:
    return outbound.RequestObserved("r1", asked, "app")


def matched(asked: SerializedRequest = WHOLE) -> outbound.RequestMatched:
    return outbound.RequestMatched("r1", asked, "app", "buys#1", "buys")


class BodyCase(SynchronousTestCase):
    """An agent that streams, and a worker with a test."""

    settings = SETTINGS

    def setUp(self) -> None:
        self.playbook = Playbook(self, self.settings)
        self.agent, self.worker = self.playbook.agent(features=("stream",)), self.playbook.worker()
        self.test = self.worker.test()
        self.before = self.playbook.tables()

    def await_body(self) -> None:
        """Come to the point where a body is awaited for the owner."""
        self.test.route()
        self.before = self.playbook.tables()
        self.agent.sends(announce())
        self.playbook.expect(
            RequestSeen("r1", "app", HEAD, body_pending=True), self.agent.gets(NEED)
        )

    def pass_through(self) -> None:
        """Come to the point where a body is on its way upstream."""
        self.agent.sends(announce())
        self.playbook.expect(
            RequestSeen("r1", "app", HEAD, body_pending=True),
            RequestPassedThrough("r1"),
            self.agent.gets(PASS),
        )

    def refused(self, message: inbound.RequestBody) -> None:
        """Check that a body that nobody waits for is refused, and changes nothing."""
        before = self.playbook.tables()
        self.agent.sends(message)
        error = outbound.ProxyError("invalid_message", text(message.request_id, "due"))
        self.playbook.expect(self.agent.gets(error))
        self.assertEqual(self.playbook.tables(), before)


class OwnedTests(BodyCase):
    """A body that an owner waits for."""

    def test_whole(self) -> None:
        """An owner is handed a request when its body is there, and nobody hears of it before."""
        self.await_body()
        self.agent.sends(brings())
        self.playbook.expect(
            RequestBodyCame("r1", WHOLE),
            self.worker.gets(observed()),
            self.worker.gets(matched()),
        )
        self.worker.sends(fulfill())
        self.playbook.take()
        self.assertEqual(self.playbook.tables(), self.before)

    def test_claim(self) -> None:
        """Tests are asked with the head; who wants it gets the whole."""
        self.test.route(predicate())
        self.agent.sends(announce())
        question = outbound.RequestClaim("r1", HEAD, "app")
        self.playbook.expect(
            RequestSeen("r1", "app", HEAD, body_pending=True), self.worker.gets(question)
        )
        self.refused(brings())
        self.worker.sends(claims("r1", "buys", "buys#1"))
        self.playbook.expect(self.agent.gets(NEED))
        self.agent.sends(brings())
        self.assertEqual(types(self.playbook.take()), ["request:observed", "request:matched"])

    def test_claim_denied(self) -> None:
        """What nobody wants in the end streams."""
        self.test.route(predicate())
        self.agent.sends(announce())
        self.playbook.take()
        self.worker.sends(claims("r1", "buys"))
        self.playbook.expect(RequestPassedThrough("r1"), self.agent.gets(PASS))

    def test_own_pace(self) -> None:
        """The owner's time limit does not run before the body is there; from then on it does."""
        self.await_body()
        self.playbook.muted.add(self.worker.id)
        self.playbook.wait(19)
        self.playbook.expect()
        self.agent.sends(brings())
        self.playbook.take()
        self.playbook.wait(6)
        failed = [each for each in self.playbook.take() if isinstance(each, RequestFailed)]
        self.assertEqual([each.code for each in failed], ["claim_timeout"])

    def test_cancelled(self) -> None:
        """An application may give up in the middle of its upload."""
        self.await_body()
        self.agent.sends(inbound.RequestCancel("r1", "closed"))
        self.playbook.expect(
            RequestAborted("r1", OWNER, "aborted", "closed"),
            RequestBodyCame("r1", CUT_OFF),
            self.worker.gets(observed(CUT_OFF)),
            self.worker.gets(report("r1", ABORTED)),
        )
        self.assertEqual(self.playbook.tables(), self.before)
        self.refused(brings())

    def test_agent_dies(self) -> None:
        """The end of an application ends its uploads, and its observers are told."""
        self.await_body()
        self.agent.dies()
        told = types(self.playbook.take())
        self.assertEqual(told, ["request:observed", "request:response"])
        self.refused_by_nobody()

    def refused_by_nobody(self) -> None:
        self.agent.sends(brings())
        self.playbook.expect()

    def test_test_ends(self) -> None:
        """A body that comes when its owner has ended is refused, its request has failed."""
        self.await_body()
        self.test.ends()
        self.assertEqual(
            types(self.playbook.take()),
            ["decision:error", "request:observed", "request:response", "test:unregistered"],
        )
        self.refused(brings())

    def test_route_gone(self) -> None:
        """A request passes through when its route went while it was uploaded."""
        self.await_body()
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        self.agent.sends(brings())
        self.playbook.expect(
            RequestBodyCame("r1", WHOLE),
            self.worker.gets(observed()),
            RequestPassedThrough("r1"),
            self.agent.gets(PASS),
        )
        self.agent.sends(report())
        self.assertEqual(types(self.playbook.take()), ["request:response"])

    def test_another_route(self) -> None:
        """A request goes to another route of the test when the first went meanwhile."""
        self.test.route(glob("**"))
        self.await_body()
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        self.agent.sends(brings())
        sent = [each for each in self.playbook.take() if isinstance(each, Send)]
        match = sent[-1].message
        assert isinstance(match, outbound.RequestMatched)
        self.assertEqual(match.route_id, "buys#2")

    def test_twice(self) -> None:
        """A body comes once."""
        self.await_body()
        self.agent.sends(brings())
        self.playbook.take()
        self.refused(brings(b"other"))

    def test_another_agent(self) -> None:
        """A body comes from the connection that announced the request, and no other."""
        self.await_body()
        announcer, self.agent = self.agent, self.playbook.agent("other", features=("stream",))
        self.refused(brings())
        self.agent = announcer
        self.agent.sends(brings())
        self.assertEqual(types(self.playbook.take()), ["request:observed", "request:matched"])

    def test_early_result(self) -> None:
        """A worker cannot decide about what it was not handed."""
        self.await_body()
        self.worker.sends(fulfill())
        self.playbook.expect()
        self.agent.sends(brings())
        self.assertEqual(types(self.playbook.take()), ["request:observed", "request:matched"])

    def test_decline(self) -> None:
        """A test that gives a request back has it sent on with the body that the agent holds."""
        worker = self.playbook.worker("1", features=("decline",))
        worker.test("sells").route("**")
        self.agent.sends(announce())
        self.playbook.take()
        self.agent.sends(brings())
        self.playbook.take()
        worker.sends(decline())
        self.playbook.expect(RequestPassedThrough("r1"), self.agent.gets(PASS))
        self.refused(brings())

    def test_unreadable(self) -> None:
        """A body that is no valid message fails its request, and its owner is told."""
        self.await_body()
        self.agent.sends_text('{"type":"request:body","requestId":"r1","bodyBase64":7}')
        told = types(self.playbook.take())
        self.assertIn("decision:error", told)
        self.assertEqual(told.count("proxy:error"), 2)
        self.assertEqual(self.playbook.tables(), self.before)

    def test_without_the_feature(self) -> None:
        """Who did not announce the feature cannot hold a body back."""
        agent = self.playbook.agent("old")
        self.test.route()
        agent.sends(inbound.RequestStart("r2", "old", WHOLE, body_pending=True))
        self.assertEqual(types(self.playbook.take()), ["request:observed", "request:matched"])


class OverdueTests(BodyCase):
    """A body that the application does not finish."""

    def fails(self, *parts: str) -> None:
        """Check that the application and the test are told so, and nothing is left."""
        sent = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        message = text("POST http://h.test/a", "--body-timeout-ms", *parts)
        self.assertIn(outbound.DecisionError("r1", "internal", message), sent)
        self.assertIn(outbound.ProxyError("internal", message, "buys"), sent)
        self.assertEqual(self.playbook.tables(), self.before)

    def test_overdue(self) -> None:
        """It fails the request, and both sides are told which body did not come."""
        self.await_body()
        self.playbook.wait(19.9)
        self.playbook.expect()
        self.playbook.wait(0.2)
        self.fails("20000 ms", "not announced")
        self.refused(brings())

    def test_announced_length(self) -> None:
        """The error names the length that the head announces."""
        self.test.route()
        self.before = self.playbook.tables()
        head = SerializedRequest(URL, "POST", {"Content-Length": "137"}, body.NULL)
        self.agent.sends(inbound.RequestStart("r1", "app", head, body_pending=True))
        self.playbook.take()
        self.playbook.wait(21)
        self.fails("137 bytes are announced")

    def test_in_time(self) -> None:
        """A body that came is not waited for any more."""
        self.await_body()
        self.agent.sends(brings())
        self.playbook.take()
        self.playbook.wait(60)
        self.playbook.expect()

    def test_several(self) -> None:
        """Each has the whole time from its own announcement."""
        self.await_body()
        self.playbook.wait(15)
        self.agent.sends(announce("r2"))
        self.playbook.take()
        self.worker.sends(claims("r2", "buys", "buys#1"))
        self.playbook.take()
        self.playbook.wait(6)
        failed = [
            each.request_id for each in self.playbook.take() if isinstance(each, RequestFailed)
        ]
        self.assertEqual(failed, ["r1"])
        self.playbook.wait(14.5)
        failed = [
            each.request_id for each in self.playbook.take() if isinstance(each, RequestFailed)
        ]
        self.assertEqual(failed, ["r2"])

    def test_unowned(self) -> None:
        """A body that nobody waits for takes the time that it takes."""
        self.pass_through()
        self.playbook.wait(600)
        self.agent.sends(brings())
        self.playbook.expect(RequestBodyCame("r1", WHOLE), self.worker.gets(observed()))


class UnlimitedTests(BodyCase):
    """The time of bodies, switched off."""

    settings = evolve(SETTINGS, body_timeout=0.0)

    def test_for_ever(self) -> None:
        """A body is waited for until it comes."""
        self.await_body()
        self.playbook.wait(3600)
        self.playbook.expect()
        self.agent.sends(brings())
        self.assertEqual(types(self.playbook.take()), ["request:observed", "request:matched"])


class LargeTests(BodyCase):
    """A body that is larger than what tests are handed."""

    settings = evolve(SETTINGS, handler_body_bytes=4)

    def fails(self, message: inbound.RequestBody, *parts: str) -> None:
        self.await_body()
        self.agent.sends(message)
        sent = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        reason = text(*parts)
        self.assertIn(outbound.DecisionError("r1", "internal", reason), sent)
        self.assertIn(outbound.ProxyError("internal", reason, "buys"), sent)
        self.assertEqual(self.playbook.tables(), self.before)

    def test_whole(self) -> None:
        """It fails both sides with the name of the limit."""
        self.fails(brings(), "5 bytes", "4 bytes", "--handler-body-bytes")

    def test_given_up(self) -> None:
        """It does so when the agent stopped reading, too."""
        self.fails(brings(b"", size=99), "99 bytes", "4 bytes", "--handler-body-bytes")

    def test_below_the_limit(self) -> None:
        """A body that cannot be sent for another reason fails, and says how far it came."""
        self.fails(brings(b"", size=3), "3 bytes", "one message")


class PassedThroughTests(BodyCase):
    """A body that nobody waits for but the history."""

    settings = evolve(SETTINGS, history_body_bytes=6)

    def test_copy(self) -> None:
        """The copy may come after the decision; then the observers are told, once."""
        self.pass_through()
        self.agent.sends(brings())
        self.playbook.expect(RequestBodyCame("r1", WHOLE), self.worker.gets(observed()))
        self.refused(brings())
        self.agent.sends(report())
        self.assertEqual(types(self.playbook.take()), ["request:response"])
        self.assertEqual(self.playbook.tables(), self.before)

    def test_cut_copy(self) -> None:
        """A copy that is not all of it goes to the history; observers get none of it."""
        self.pass_through()
        self.agent.sends(brings(b"abc", size=500))
        kept = SerializedRequest(
            URL, "POST", {}, body.from_bytes(b"abc"), truncated=True, body_size=500
        )
        told = SerializedRequest(URL, "POST", {}, body.NULL, truncated=True, body_size=500)
        self.playbook.expect(RequestBodyCame("r1", kept), self.worker.gets(observed(told)))

    def test_long_copy(self) -> None:
        """A copy that is longer than what was allowed is cut here."""
        self.pass_through()
        self.agent.sends(brings(b"0123456789"))
        (came, _) = self.playbook.take()
        assert isinstance(came, RequestBodyCame)
        self.assertEqual(body.to_bytes(came.request.body_base64), b"012345")
        self.assertEqual((came.request.truncated, came.request.body_size), (True, 10))

    def test_no_copy(self) -> None:
        """Without a copy the observers are told before the response, and no body is claimed."""
        self.pass_through()
        self.agent.sends(report())
        self.playbook.expect(
            RequestBodyCame("r1", CUT_OFF),
            self.worker.gets(observed(CUT_OFF)),
            ResponseReported("r1", response(), None),
            self.worker.gets(report()),
        )
        self.refused(brings())

    def test_failures(self) -> None:
        """A failure, a cancel and the agent's end tell of the request, and then of that."""
        for end in (
            lambda: self.agent.sends(report("r1", failure())),
            lambda: self.agent.sends(inbound.RequestCancel("r1")),
            lambda: self.agent.sends_text('{"type":"request:response","requestId":"r1"}'),
            self.agent.dies,
        ):
            self.pass_through()
            end()
            told = [each for each in types(self.playbook.take()) if each != "proxy:error"]
            self.assertEqual(told, ["request:observed", "request:response"])

    def test_unreadable(self) -> None:
        """A copy that is no valid message counts as none."""
        self.pass_through()
        self.agent.sends_text('{"type":"request:body","requestId":"r1"}')
        self.assertEqual(types(self.playbook.take()), ["request:observed", "proxy:error"])

    def test_subscribers(self) -> None:
        """Who subscribes while a body is on its way is told when it is there."""
        worker = self.playbook.worker("1", features=("subscribe",))
        worker.sends(inbound.TestRegister("t", "t", "f", "1"))
        self.playbook.take()
        self.pass_through()
        worker.sends(inbound.TestSubscribe("t"))
        self.playbook.take()
        self.agent.sends(brings())
        (_, send) = self.playbook.take()
        assert isinstance(send, Send)
        self.assertEqual(send.to, (self.worker.id, worker.id))

    def test_too_many(self) -> None:
        """A request that is no longer waited for is told of, since no copy will be taken."""
        self.patch(response_reports, "MOST_AWAITED", 1)
        self.pass_through()
        self.agent.sends(start("r2"))
        self.assertEqual(types(self.playbook.take())[-1], "request:observed")
        self.refused(brings())

    def test_hop(self) -> None:
        """A redirect whose copy never came is told of before its hop."""
        self.pass_through()
        self.agent.sends(observe("r2", "r1", URL))
        effects = self.playbook.take()
        self.assertEqual(types(effects), ["request:observed", "request:observed"])
        kinds = [type(each) for each in effects if not isinstance(each, Send)]
        self.assertEqual(kinds, [RequestBodyCame, HopSeen])


class ResponseTests(BodyCase):
    """A response that is reported before its body."""

    settings = evolve(SETTINGS, history_body_bytes=6)

    def setUp(self) -> None:
        super().setUp()
        self.agent.sends(start())
        self.playbook.take()

    def head(self, status: int = 200) -> inbound.RequestResponse:
        return inbound.RequestResponse("r1", ok=True, response=response(status), body_pending=True)

    def begin(self) -> None:
        self.agent.sends(self.head())
        self.playbook.expect(ResponseReported("r1", response(), None, body_pending=True))

    def test_too_many(self) -> None:
        """A body that is no longer waited for is not shown as on its way for good."""
        self.begin()
        self.patch(response_reports, "MOST_AWAITED", 1)
        self.agent.sends(start("r2"))
        dropped = [each for each in self.playbook.take() if isinstance(each, ResponseReported)]
        self.assertEqual([(each.request_id, each.response) for each in dropped], [("r1", None)])
        self.agent.sends(report("r1", response(200, b"abc")))
        self.playbook.expect()

    def test_head_first(self) -> None:
        """The history is told of the head; waiters of the whole, when it is there."""
        self.begin()
        self.agent.sends(report("r1", response(200, b"abc")))
        self.playbook.expect(
            ResponseReported("r1", response(200, b"abc"), None),
            self.worker.gets(report("r1", response(200, b"abc"))),
        )
        self.assertEqual(self.playbook.tables(), self.before)

    def test_cut(self) -> None:
        """Of a body that is too long the history gets the beginning, and waiters nothing."""
        self.begin()
        self.agent.sends(report("r1", response(200, b"0123456789")))
        (recorded, send) = self.playbook.take()
        assert isinstance(recorded, ResponseReported) and recorded.response is not None
        assert isinstance(send, Send) and isinstance(send.message, inbound.RequestResponse)
        told = send.message.response
        assert told is not UNSET
        self.assertEqual(body.to_bytes(recorded.response.body_base64), b"012345")
        self.assertEqual(body.to_bytes(told.body_base64), b"")
        for each in (recorded.response, told):
            self.assertEqual((each.truncated, each.body_size), (True, 10))

    def test_broke_off(self) -> None:
        """A response that broke off leaves what came in the history; waiters see a failure."""
        self.begin()
        part = response(200, b"abc")
        self.agent.sends(inbound.RequestResponse("r1", ok=False, response=part, error=ABORTED))
        self.playbook.expect(
            ResponseReported("r1", part, ABORTED), self.worker.gets(report("r1", ABORTED))
        )
        self.assertEqual(self.playbook.tables(), self.before)

    def test_given_up(self) -> None:
        """What the application reads no further is a response to workers; the history knows."""
        self.begin()
        part = structs.replace(response(200, b"abc"), truncated=True, body_size=3)
        told = structs.replace(part, body_base64=body.NULL)
        self.agent.sends(inbound.RequestResponse("r1", ok=True, response=part, error=ABORTED))
        self.playbook.expect(
            ResponseReported("r1", part, ABORTED),
            self.worker.gets(report("r1", told)),
        )

    def test_lost(self) -> None:
        """A response whose application died has failed."""
        self.begin()
        self.agent.dies()
        self.assertEqual(types(self.playbook.take()), ["request:response"])

    def test_redirect(self) -> None:
        """A redirect is followed as ever."""
        self.agent.sends(report("r1", redirect("http://h.test/next")))
        self.playbook.take()
        self.agent.sends(observe("r2", "r1", "http://h.test/next"))
        self.assertEqual(types(self.playbook.take()), ["request:observed"])

    def test_owner(self) -> None:
        """An owner that continued hears of the whole response, not of the head."""
        self.test.route()
        self.agent.sends(start("r2"))
        self.playbook.take()
        self.worker.sends(continue_("r2"))
        self.playbook.take()
        self.agent.sends(
            inbound.RequestResponse("r2", ok=True, response=response(), body_pending=True)
        )
        self.assertEqual(types(self.playbook.take()), [])
        self.agent.sends(report("r2"))
        self.assertEqual(types(self.playbook.take()), ["request:response"])

    def test_without_the_feature(self) -> None:
        """From another agent the mark means nothing, and nothing is cut."""
        agent = self.playbook.agent("old")
        agent.sends(start("r2", client_id="old"))
        self.playbook.take()
        long = response(200, b"0123456789")
        agent.sends(inbound.RequestResponse("r2", ok=True, response=long, body_pending=True))
        self.assertIn(ResponseReported("r2", long, None), self.playbook.take())


def types(effects: Effects) -> list[str]:
    """List the types of what is sent."""
    return [str(each.message.__struct_config__.tag) for each in effects if isinstance(each, Send)]
