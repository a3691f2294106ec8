"""Requests that are announced before their bodies, and wanted by a test."""

from attrs import evolve

from tests.core.http.pending_bodies import (
    ABORTED,
    CUT_OFF,
    HEAD,
    NEED,
    PASS,
    URL,
    WHOLE,
    BodyCase,
    announce,
    brings,
    observed,
    types,
)
from tests.support.builders import (
    claims,
    fall_back,
    fulfill,
    glob,
    predicate,
    report,
    text,
)
from tests.support.playbook import SETTINGS
from trafficmock.core.effects import Send
from trafficmock.records import (
    Owner,
    RequestAborted,
    RequestBodyCame,
    RequestContinued,
    RequestFailed,
    RequestPassedThrough,
    RequestSeen,
)
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest

OWNER = Owner("buys", "buys#1", "buys", "buys.spec.ts")


def matched(asked: SerializedRequest = WHOLE) -> outbound.RequestMatched:
    return outbound.RequestMatched("r1", asked, "app", "buys#1", "buys")


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

    def test_given_back(self) -> None:
        """A test that gives a request back has it sent on with the body that the agent holds."""
        worker = self.playbook.worker("1", features=("chain",))
        worker.test("sells").route("**")
        self.agent.sends(announce())
        self.playbook.take()
        self.agent.sends(brings())
        self.playbook.take()
        worker.sends(fall_back())
        continued, sent = self.playbook.take()
        self.assertIsInstance(continued, RequestContinued)
        self.assertEqual(sent, self.agent.gets(outbound.DecisionContinue("r1")))
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

    def test_without_a_limit(self) -> None:
        """The same where handlers may have bodies of any length."""
        self.settings = evolve(SETTINGS, handler_body_bytes=0)
        self.setUp()
        self.fails(brings(b"", size=99), "99 bytes", "one message")
