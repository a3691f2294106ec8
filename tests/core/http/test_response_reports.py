"""After the decision: reports, redirect chains, and ids that are in use until then."""

from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    continue_,
    failure,
    observe,
    redirect,
    report,
    request,
    response,
    start,
    text,
)
from tests.support.playbook import Playbook
from trafficmock.core.effects import Effects
from trafficmock.core.http import awaited_reports
from trafficmock.records import HopSeen, Owner, RequestSeen, ResponseReported
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

OWNER = Owner("buys", "buys#1", "buys", "buys.spec.ts")
NEXT = "http://h.test/next"


class WithAgent(SynchronousTestCase):
    """An agent whose request ``r1`` passes through, and a worker that watches."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker()
        self.test = self.worker.test()
        self.before = self.playbook.tables()
        self.passes("r1")

    def passes(self, request_id: str) -> None:
        self.agent.sends(start(request_id))
        self.playbook.take()

    def reported(self, request_id: str, answer: SerializedResponse | SerializedError) -> Effects:
        if isinstance(answer, SerializedError):
            record = ResponseReported(request_id, None, answer)
        else:
            record = ResponseReported(request_id, answer, None)
        return [record, self.worker.gets(report(request_id, answer))]

    def observed(self, request_id: str, url: str = NEXT) -> Effects:
        return [self.worker.gets(outbound.RequestObserved(request_id, request(url), "app"))]

    def sends(self, message: inbound.Message, *expected: object) -> None:
        self.agent.sends(message)
        self.playbook.expect(*expected)

    def unchanged(self) -> None:
        self.assertEqual(self.playbook.tables(), self.before)


class ChainTests(WithAgent):
    """The agent follows redirects by itself; each hop has its own report."""

    def hop(
        self, request_id: str, prior_id: str, request_: SerializedRequest | None = None
    ) -> HopSeen:
        hop = request_ or request(NEXT)
        return HopSeen(request_id, "app", hop, prior_id, "passthrough", None)

    def test_passthrough(self) -> None:
        """Each hop is recorded and passed on; the last report ends the wait."""
        self.sends(report("r1", redirect(NEXT)), *self.reported("r1", redirect(NEXT)))
        self.sends(observe("r2", "r1", NEXT), self.hop("r2", "r1"), *self.observed("r2"))
        self.sends(report("r2", redirect("/", 308)), *self.reported("r2", redirect("/", 308)))
        self.sends(observe("r3", "r2", NEXT), self.hop("r3", "r2"), *self.observed("r3"))
        self.sends(report("r3", response(404)), *self.reported("r3", response(404)))
        self.unchanged()

    def test_continue(self) -> None:
        """A hop has the fate and the owner of the request before it."""
        self.test.route("**/owned")
        self.agent.sends(start("o1", "http://h.test/owned"))
        self.playbook.take()
        self.worker.sends(continue_("o1"))
        self.playbook.take()
        self.test.ends()
        self.playbook.expect(self.test.ended())
        self.sends(report("o1", redirect(NEXT)), *self.reported("o1", redirect(NEXT)))
        hop = HopSeen("o2", "app", request(NEXT), "o1", "continue", OWNER)
        self.sends(observe("o2", "o1", NEXT), hop)

    def test_failing_hop(self) -> None:
        """A failure that the agent reports for the first hop is the last hop's."""
        for request_id, prior_id in (("r2", "r1"), ("r3", "r2")):
            self.agent.sends(report(prior_id, redirect(NEXT)))
            self.playbook.take()
            self.agent.sends(observe(request_id, prior_id, NEXT))
            self.playbook.take()
        self.sends(report("r1", failure()), *self.reported("r3", failure()))
        self.unchanged()
        self.sends(report("r1", failure()))

    def test_failing_hop_by_its_name(self) -> None:
        """A failure may also be reported for the hop that failed."""
        self.agent.sends(report("r1", redirect(NEXT)))
        self.playbook.take()
        self.agent.sends(observe("r2", "r1", NEXT))
        self.playbook.take()
        self.sends(report("r2", failure()), *self.reported("r2", failure()))
        self.unchanged()

    def test_failure_between_hops(self) -> None:
        """A redirect that cannot be followed fails the hop that named it."""
        self.agent.sends(report("r1", redirect("::")))
        self.playbook.take()
        self.sends(report("r1", failure()), *self.reported("r1", failure()))
        self.unchanged()

    def test_redirects_without_location(self) -> None:
        """What no client follows ends the wait."""
        for status, headers in ((302, {}), (302, {"location": ""}), (300, {"location": NEXT})):
            answer = response(status, b"", **headers)
            self.sends(report("r1", answer), *self.reported("r1", answer))
            self.unchanged()
            self.passes("r1")

    def test_last_redirect(self) -> None:
        """A redirect that is not followed is waited for until the connection ends."""
        self.agent.sends(report("r1", redirect(NEXT)))
        self.playbook.take()
        self.agent.dies()
        self.playbook.expect()
        self.assertNotIn("r1", str(self.playbook.tables()))

    def test_hop_after_nothing(self) -> None:
        """A hop without a known request before it is passed on, not recorded."""
        for number, prior_id in enumerate((None, "unknown")):
            hop, following = f"h{number}", f"i{number}"
            self.sends(observe(hop, prior_id, NEXT), *self.observed(hop))
            answer = report(hop, redirect(NEXT))
            self.sends(answer, self.worker.gets(answer))
            self.sends(observe(following, hop, NEXT), *self.observed(following))
            self.sends(report(following), self.worker.gets(report(following)))
        self.sends(report("r1"), *self.reported("r1", response()))
        self.unchanged()

    def test_two_hops_after_one(self) -> None:
        """A request has one successor; a second one is a hop after nothing."""
        self.agent.sends(report("r1", redirect(NEXT)))
        self.playbook.take()
        self.agent.sends(observe("r2", "r1", NEXT))
        self.playbook.take()
        self.sends(observe("r3", "r1", NEXT), *self.observed("r3"))


class AwaitedTests(WithAgent):
    """Which reports count, and for how long."""

    def test_neither_response_nor_error(self) -> None:
        """A report of nothing is a failure."""
        for ok in (True, False):
            error = SerializedError("Error", text("neither"))
            self.sends(inbound.RequestResponse("r1", ok), *self.reported("r1", error))
            self.passes("r1")

    def test_somebody_elses(self) -> None:
        """Only who announced a request may report on it."""
        other = self.playbook.agent("other")
        for message in (report("r1"), observe("r9", "r1"), inbound.RequestCancel("r1")):
            other.sends(message)
            self.assertNotIn("r1", str(self.playbook.take()))
        self.sends(report("r1"), *self.reported("r1", response()))

    def test_agent_lost(self) -> None:
        """When the agent is lost, what it owed is recorded as failed."""
        self.agent.dies()
        error = SerializedError("Error", text("'app' disconnected"), code="disconnected")
        self.playbook.expect(*self.reported("r1", error))

    def test_most(self) -> None:
        """Beyond the most reports awaited, the oldest is no longer waited for."""
        self.patch(awaited_reports, "MOST_AWAITED", 3)
        for request_id in ("r2", "r3", "r4"):
            self.passes(request_id)
        self.sends(report("r1"))
        self.sends(report("r2"), *self.reported("r2", response()))
        other = self.playbook.agent("other")
        other.sends(start("x1"))
        self.playbook.take()
        self.sends(report("r3"), *self.reported("r3", response()))

    def test_invalid_report(self) -> None:
        """A report that is no valid message is a failure, and the agent is told."""
        self.agent.sends_text('{"type":"request:response","requestId":"r1","ok":"yes"}')
        self.playbook.expect(
            *self.reported("r1", SerializedError("Error", text("$.ok"))),
            self.agent.gets(outbound.ProxyError("invalid_message", text("$.ok"))),
        )
        self.unchanged()

    def test_latecomers_are_not_told(self) -> None:
        """A worker that did not see the request does not see its response."""
        self.playbook.worker("1").test("late")
        self.sends(report("r1"), *self.reported("r1", response()))


class IdTests(WithAgent):
    """An id is in use from the request to the last report; the first holder keeps it."""

    def refused(self, request_id: str = "r1") -> None:
        """Check that nobody gets in with this id."""
        other = self.playbook.agent("other")
        for peer in (self.agent, other):
            peer.sends(start(request_id))
            message = text(request_id, "in use")
            self.playbook.expect(peer.gets(outbound.DecisionError(request_id, "internal", message)))
            peer.sends(observe(request_id, None))
            self.playbook.expect()
        other.dies()
        self.playbook.expect()

    def test_on_its_way(self) -> None:
        """It is in use while a report is owed, and free afterwards."""
        self.refused()
        self.sends(report("r1"), *self.reported("r1", response()))
        self.agent.sends(start("r1"))
        self.assertEqual(self.playbook.take()[0], RequestSeen("r1", "app", request()))

    def test_undecided(self) -> None:
        """It is in use while the request is paused."""
        self.test.route("**")
        self.passes("r5")
        self.refused("r5")

    def test_hop(self) -> None:
        """A hop's id is in use, and that of the request before it free again."""
        self.agent.sends(report("r1", redirect(NEXT)))
        self.playbook.take()
        self.agent.sends(observe("r2", "r1", NEXT))
        self.playbook.take()
        self.refused("r2")
        self.passes("r1")

    def test_followed_by_the_application(self) -> None:
        """A request that follows a redirect is linked, routed, and frees the one before."""
        self.agent.sends(report("r1", redirect(NEXT)))
        self.playbook.take()
        follows = structs.replace(start("r2", NEXT), redirected_from_request_id="r1")
        self.agent.sends(follows)
        seen = RequestSeen("r2", "app", request(NEXT), redirected_from="r1")
        self.assertEqual(self.playbook.take()[0], seen)
        self.passes("r1")

    def test_free_when_the_agent_is_gone(self) -> None:
        """What a lost agent held is free."""
        self.agent.dies()
        self.playbook.take()
        other = self.playbook.agent("other")
        other.sends(start("r1"))
        self.assertEqual(self.playbook.take()[0], RequestSeen("r1", "app", request()))
