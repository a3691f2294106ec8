"""Clients of the core within the process, as the forward proxy has them."""

from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import DriverHarness
from trafficmock.records import RequestSeen
from trafficmock.wire.inbound import Hello, Message, Ping, Pong, RequestCancel, RequestStart
from trafficmock.wire.outbound import DecisionPassthrough, HelloOk
from trafficmock.wire.payloads.body import NULL
from trafficmock.wire.payloads.serialized_request import SerializedRequest

URL = "http://api.test/users"


class RecordingClient:
    """A client within the process that keeps what it is told, and answers in between."""

    kind = "proxy"
    id = ""

    def __init__(self, harness: DriverHarness) -> None:
        self.harness = harness
        self.received: list[Message] = []
        self.answers: list[Message] = []

    def socket(self, socket_id: str) -> None:
        """Have no WebSockets."""

    def deliver(self, message: Message) -> None:
        self.received.append(message)
        for answer in self.answers:
            self.harness.driver.client_sent(self, answer)
        self.answers.clear()


class ProxyClientTests(SynchronousTestCase):
    """Clients of the core within the process."""

    def setUp(self) -> None:
        self.harness = DriverHarness()
        self.client = RecordingClient(self.harness)
        self.harness.driver.client_opened(self.client, Hello(3, "1", "node", client_id="here"))

    def start(self, request_id: str) -> RequestStart:
        return RequestStart(request_id, "here", SerializedRequest(URL, "GET", {}, NULL))

    def test_told_the_message_itself(self) -> None:
        """It is introduced like everybody, and told messages, not their encoding."""
        self.harness.driver.client_sent(self.client, self.start("1"))
        hello, decision = self.client.received
        self.assertIsInstance(hello, HelloOk)
        self.assertEqual(decision, DecisionPassthrough("1"))
        (client,) = self.harness.driver.coordinator.clients()
        self.assertEqual((client.id, client.kind), (self.client.id, "proxy"))

    def test_does_not_overtake(self) -> None:
        """What it answers while it is told comes after all that it was told about."""
        worker = self.harness.worker_with_route("http://other.test/")
        self.client.answers.append(RequestCancel("1"))
        self.client.answers.append(self.start("2"))
        self.harness.driver.client_sent(self.client, self.start("1"))
        news = worker.took("request:observed", "request:response", "request:observed")
        self.assertEqual([message["requestId"] for message in news], ["1", "1", "2"])

    def test_many_answer(self) -> None:
        """A thousand of them may answer one effect: none is heard within another's turn."""
        for number in range(1000):
            client = RecordingClient(self.harness)
            self.harness.driver.client_opened(client, Hello(3, "1", "node", client_id=f"c{number}"))
            client.answers.append(Pong(0))
            self.client.answers.append(Pong(0))
        self.harness.clock.advance(15)
        self.assertIsInstance(client.received[-1], Ping)
        self.assertEqual(self.client.answers, [])

    def test_closed(self) -> None:
        """When it goes, the core forgets it, and nothing is sent to it."""
        self.harness.driver.client_closed(self.client)
        self.assertEqual(self.harness.driver.coordinator.clients(), [])

    def test_recorded(self) -> None:
        """It may have in the history what the core has nothing to decide about."""
        request = SerializedRequest(URL, "CONNECT", {}, NULL)
        self.harness.driver.client_recorded(RequestSeen("t", "here", request))
        self.assertIsNotNone(self.harness.history.requests.get("t"))
