"""Responses of which the head is reported before the body."""

from attrs import evolve
from msgspec import UNSET, structs

from tests.core.http.pending_bodies import (
    ABORTED,
    BodyCase,
    types,
)
from tests.support.builders import (
    continue_,
    observe,
    redirect,
    report,
    response,
    start,
)
from tests.support.playbook import SETTINGS
from trafficmock.core.effects import Send
from trafficmock.core.http import awaited_reports
from trafficmock.records import (
    ResponseReported,
)
from trafficmock.wire import inbound
from trafficmock.wire.payloads import body


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
        self.patch(awaited_reports, "MOST_AWAITED", 1)
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
