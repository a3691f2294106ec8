"""Bodies of requests that nobody wanted: copies for the history and for observers."""

from attrs import evolve

from tests.core.http.pending_bodies import (
    CUT_OFF,
    URL,
    WHOLE,
    BodyCase,
    brings,
    observed,
    types,
)
from tests.support.builders import (
    failure,
    observe,
    report,
    response,
    start,
)
from tests.support.playbook import SETTINGS
from trafficmock.core.effects import Send
from trafficmock.core.http import awaited_reports
from trafficmock.records import (
    HopSeen,
    RequestBodyCame,
    ResponseReported,
)
from trafficmock.wire import inbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest


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
        self.patch(awaited_reports, "MOST_AWAITED", 1)
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
