"""The driver performs what the core decides."""

import itertools
import json

from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import DriverHarness, FakeLink
from trafficmock.history.store import Capture, History
from trafficmock.http.log_safety import MOST_LINES, PERIOD_SECONDS
from trafficmock.server.websocket.oversized_frames import OversizedMessage

URL = "http://api.test/users"
OK = {"status": 200, "statusText": "OK", "headers": {}, "bodyBase64": "aGk="}


class DecisionTests(SynchronousTestCase):
    """Messages in, messages out, and the history beside them."""

    def setUp(self) -> None:
        self.harness = DriverHarness()
        self.agent = self.harness.agent()

    def test_passthrough(self) -> None:
        """A request that nobody wants is sent on, and remembered."""
        self.harness.request(self.agent, "1", URL)
        self.agent.took("decision:passthrough")
        stored = self.harness.history.requests.get("1")
        assert stored is not None
        entry = json.loads(stored.to_json())
        self.assertEqual((entry["action"], entry["timestamp"]), ("passthrough", 1_000_000))

    def test_fulfilled(self) -> None:
        """A matched request goes to its test, whose answer goes to the application."""
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.request(self.agent, "1", URL)
        worker.took("request:observed", "request:matched")
        self.harness.send_message(
            worker, "handler:result", requestId="1", result={"action": "fulfill", "response": OK}
        )
        (decision,) = self.agent.took("decision:fulfill")
        self.assertEqual(decision["response"], OK)
        worker.took("request:response")

    def test_one_encoding_for_all(self) -> None:
        """A message to many is the very same bytes for each."""
        workers = [self.harness.hello("playwright") for _ in range(3)]
        for number, worker in enumerate(workers):
            test = {"testId": str(number), "title": "T", "file": "f", "workerId": "0"}
            self.harness.send_message(worker, "test:register", **test)
        self.harness.request(self.agent, "1", URL)
        self.assertEqual(len({id(worker.frames[-1]) for worker in workers}), 1)

    def test_deferrable(self) -> None:
        """News of requests may wait; decisions, matches and acknowledgements may not."""
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.request(self.agent, "1", "http://else.test/")
        self.harness.send_message(
            self.agent, "request:response", requestId="1", ok=True, response=OK
        )
        worker.took("request:observed", "request:response")
        self.assertEqual((worker.deferrable, self.agent.deferrable), (2, 0))
        self.harness.request(self.agent, "2", URL)
        worker.took("request:observed", "request:matched")
        self.assertEqual(worker.deferrable, 3)

    def test_invalid_message(self) -> None:
        """Junk gets an answer and harms nobody."""
        self.harness.driver.link_received(self.agent, b"\xff{")
        (complaint,) = self.agent.took("proxy:error")
        self.assertEqual(complaint["code"], "invalid_message")
        self.assertIsNone(self.agent.closed)

    def test_refused(self) -> None:
        """A connection that does not say hello first is closed, and not heard again."""
        link = self.harness.connect()
        self.harness.request(link, "1", URL)
        link.took("hello:error")
        self.assertEqual(link.closed, (1008, "invalid_hello"))
        self.harness.send_message(link, "hello", protocolVersion=3, packageVersion="x", role="node")
        link.took()

    def test_history_query(self) -> None:
        """A worker may ask for the entries that a glob matches."""
        worker = self.harness.worker_with_route("http://other.test/")
        self.harness.request(self.agent, "1", URL)
        self.harness.request(self.agent, "2", "http://api.test/cart")
        worker.took("request:observed", "request:observed")
        self.harness.send_message(
            worker, "history:query", queryId="q", matcher={"urlGlob": "**/users"}
        )
        (result,) = worker.took("history:result")
        self.assertEqual([entry["id"] for entry in result["entries"]], ["1"])

    def test_lost_connection(self) -> None:
        """The agent of a lost worker's request is answered."""
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.request(self.agent, "1", URL)
        self.harness.driver.link_closed(worker)
        (decision,) = self.agent.took("decision:error")
        self.assertEqual(decision["code"], "disconnected")

    def test_overlong(self) -> None:
        """A result that was too long to be read fails its request, and names the option."""
        worker = self.harness.worker_with_route("http://api.test/*")
        self.harness.request(self.agent, "1", URL)
        worker.took("request:observed", "request:matched")
        head = b'{"type":"handler:result","requestId":"1","result":{"action":"fulf'
        self.harness.driver.link_overlong(worker, OversizedMessage(1000, 100, head))
        (decision,) = self.agent.took("decision:error")
        self.assertEqual(decision["code"], "handler_failed")
        _, complaint = worker.took("request:response", "proxy:error")
        self.assertEqual(complaint["testId"], "t")
        self.assertIn("--max-frame-bytes", complaint["message"])

    def test_overlong_stranger(self) -> None:
        """Whoever begins with a huge message is refused, and told why."""
        stranger = FakeLink(peer="127.0.0.1:4711")
        self.harness.driver.link_opened(stranger)
        logs = self.enterContext(capturedLogs())
        self.harness.driver.link_overlong(
            stranger, OversizedMessage(70_000, 65_536, b'{"type":"hello",')
        )
        (refusal,) = stranger.took("hello:error")
        self.assertIn("65536 bytes", refusal["message"])
        self.assertIsNotNone(stranger.closed)
        self.assertEqual((self.agent.welcomed, stranger.welcomed), (True, False))
        self.assertIn("from 127.0.0.1:4711 refused, invalid_hello: ", str(logs[-1]["text"]))

    def test_flood_of_notes(self) -> None:
        """However much nonsense a client sends, the log stays short and says so."""
        logs = self.enterContext(capturedLogs())
        for _ in range(MOST_LINES + 5):
            self.harness.driver.link_received(self.agent, b"{}")
        self.assertEqual(len(logs), MOST_LINES)
        self.harness.clock.advance(PERIOD_SECONDS)
        self.harness.driver.link_received(self.agent, b"{}")
        self.assertEqual((len(logs), logs[MOST_LINES]["count"]), (MOST_LINES + 2, 5))

    def test_too_big(self) -> None:
        """A body that no client would take is not observed; the decision still comes."""
        worker = self.harness.worker_with_route("http://other.test/")
        body = "QUJD" * (26 * 2**20)
        self.harness.request(self.agent, "1", URL, bodyBase64=body)
        (observed,) = worker.took("request:observed")
        self.assertIsNone(observed["request"]["bodyBase64"])
        self.agent.took("decision:passthrough")


class LongQueryTests(SynchronousTestCase):
    """A query that takes longer than a slice of time."""

    def setUp(self) -> None:
        self.harness = DriverHarness()
        self.agent = self.harness.agent()
        self.worker = self.harness.worker_with_route("http://other.test/")
        for number in range(5):
            self.harness.request(self.agent, str(number), URL)
        self.worker.sent.clear()
        self.agent.sent.clear()
        ticks = itertools.count()
        self.harness.driver.queries.monotonic = lambda: next(ticks) * 0.01
        self.harness.send_message(self.worker, "history:query", queryId="q")

    def test_others_first(self) -> None:
        """A decision that is due meanwhile does not wait for the answer."""
        self.worker.took()
        self.harness.request(self.agent, "due", URL)
        self.agent.took("decision:passthrough")
        self.worker.sent.clear()
        self.harness.clock.pump([0] * 10)
        (result,) = self.worker.took("history:result")
        self.assertEqual(len(result["entries"]), 5)

    def test_many_share_a_slice(self) -> None:
        """However many queries there are, one slice of time is worked before others have theirs."""
        for number in range(20):
            self.harness.send_message(self.worker, "history:query", queryId=f"more {number}")
        slices = [call for call in self.harness.clock.getDelayedCalls() if call.getTime() == 0]
        self.assertEqual(len(slices), 1)
        self.harness.clock.pump([0] * 200)
        self.assertEqual(len(self.worker.took(*["history:result"] * 21)), 21)

    def test_gone(self) -> None:
        """Nobody works for a worker that has left."""
        self.harness.driver.link_closed(self.worker)
        self.harness.clock.advance(0)
        self.worker.took()


class ObservabilityTests(SynchronousTestCase):
    """What is remembered never changes what is decided."""

    def conversation(self, capture: Capture) -> list[bytes]:
        """Give all that everybody is told in one playbook, under one capture mode."""
        harness = DriverHarness(history=History(capture=capture))
        agent, worker = harness.agent(), harness.worker_with_route("http://api.test/*")
        for number, url in enumerate((URL, "http://api.test/x", "http://else.test/")):
            harness.request(agent, str(number), url)
        harness.send_message(
            worker, "handler:result", requestId="0", result={"action": "fulfill", "response": OK}
        )
        harness.send_message(worker, "handler:result", requestId="1", result={"action": "continue"})
        harness.send_message(agent, "request:response", requestId="1", ok=True, response=OK)
        harness.send_message(agent, "request:response", requestId="2", ok=False)
        harness.driver.link_closed(agent)
        return agent.payloads + worker.payloads

    def test_same_conversation(self) -> None:
        """All capture modes decide alike."""
        everything = self.conversation("all")
        self.assertGreater(len(everything), 10)
        self.assertEqual(self.conversation("handled"), everything)
        self.assertEqual(self.conversation("none"), everything)
