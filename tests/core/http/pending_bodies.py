"""An agent that announces requests before their bodies, a worker, and what they send."""

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    request,
    text,
)
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.records import (
    RequestPassedThrough,
    RequestSeen,
)
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError

URL = "http://h.test/a"
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


def types(effects: Effects) -> list[str]:
    """List the types of what is sent."""
    return [str(each.message.__struct_config__.tag) for each in effects if isinstance(each, Send)]
