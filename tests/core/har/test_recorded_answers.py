"""Requests that the real server answers, and that are recorded."""

from typing import Any

from attrs import evolve

from tests.core.answers.reply_case import ReplyCase
from tests.support.builders import URL, failure, glob, request, response
from trafficmock import records
from trafficmock.core.effects import Send, WriteRecording
from trafficmock.core.http.recorded_answers import MOST_MS
from trafficmock.core.state.har_recording import Exchange, HarRecording
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_har import SerializedRecording
from trafficmock.wire.payloads.serialized_response import SerializedError

REAL = response(201, b"real", **{"x-a": "b", "transfer-encoding": "chunked"})


class RecordingTests(ReplyCase):
    """A test with a route that records."""

    def setUp(self) -> None:
        super().setUp()
        self.records()
        self.playbook.take()

    def records(self, **options: Any) -> None:
        recording = SerializedRecording(**options)
        self.worker.sends(inbound.RouteRegister("q", "buys", glob("**"), record=recording))

    def fetches(self, **more: Any) -> Send:
        return self.agent.gets(outbound.DecisionFetch("r1", "recording-q", **more))

    def answers(self, answer: Any = REAL) -> list[Any]:
        """Let the real server answer; give what is sent."""
        if isinstance(answer, SerializedError):
            result = inbound.FetchResult("r1", "recording-q", ok=False, error=answer)
        else:
            result = inbound.FetchResult("r1", "recording-q", ok=True, response=answer)
        self.agent.sends(result)
        return self.sent()

    def sent(self) -> list[Any]:
        return [each.message for each in self.playbook.take() if isinstance(each, Send)]

    def recorded(self, route_id: str = "q", test_id: str = "buys") -> list[Any]:
        """Give what was recorded: the answer, its beginning and its time."""
        self.worker.sends(inbound.RecordingQuery("1", test_id, route_id))
        (effect,) = self.playbook.take()
        assert isinstance(effect, WriteRecording)
        return [(each.response, each.request.url, each.took) for each in effect.exchanges]

    def test_answer(self) -> None:
        """The owner is told and the agent fetches; then the answer is recorded and given."""
        told, fetch = self.asks()
        replied = outbound.RequestReplied("r1", request(), "app", "q", "buys")
        self.assertEqual(told, self.worker.gets(replied))
        self.assertEqual(fetch, self.fetches(max_redirects=0))
        self.assertEqual(self.recorded(), [])
        self.playbook.wait(0.25)
        decision, reported = self.answers()
        given = decision.response
        self.assertEqual((given.status, body.to_bytes(given.body_base64)), (201, b"real"))
        self.assertEqual(given.headers, {"x-a": "b", "content-length": "4"})
        self.assertEqual(reported.response.status, 201)
        self.assertEqual(self.recorded(), [(REAL, URL, 250)])
        self.assertEqual((self.recorded("other"), self.recorded("q", "other")), ([], []))

    def test_redirects(self) -> None:
        """The agent follows redirects where the test says so."""
        self.worker.sends(inbound.RouteUnregister("q"))
        self.playbook.take()
        self.records(follow_redirects=True)
        self.playbook.take()
        *_, fetch = self.asks()
        self.assertEqual(fetch, self.fetches())

    def test_failure(self) -> None:
        """A failure is recorded, and is that of the application."""
        self.asks()
        decision, reported = self.answers(failure("it was refused"))
        self.assertFalse(reported.ok)
        self.assertEqual(decision, outbound.DecisionAbort("r1", "connectionrefused"))
        ((text, *_),) = self.recorded()
        self.assertEqual(text, "it was refused")

    def test_late(self) -> None:
        """A server without an answer is a failure; the answer that comes later is none."""
        self.asks()
        self.playbook.wait(MOST_MS / 1000)
        decision, _ = self.sent()
        self.assertEqual(decision, outbound.DecisionAbort("r1", "failed"))
        self.assertEqual(self.answers(), [])
        ((text, *_),) = self.recorded()
        self.assertIn("Timeout 30000ms exceeded", text)

    def test_given_up(self) -> None:
        """A request that the application gives up is recorded as that."""
        self.asks()
        self.agent.sends(inbound.RequestCancel("r1"))
        effects = self.playbook.take()
        ended = [each for each in effects if isinstance(each, records.RequestAborted)]
        self.assertEqual(len(ended), 1)
        ((text, *_),) = self.recorded()
        self.assertIn("gave the request up", text)

    def test_no_room(self) -> None:
        """A recording that ``--recording-bytes`` has no room for is dropped, and says so."""
        self.records_with(None)
        ((exchange, *_),) = self.recorded()
        self.assertEqual(exchange, REAL)
        size = self.playbook.coordinator.state.registry.recorded_bytes()
        self.assertGreater(size, len(URL) + body.letters(REAL.body_base64))
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.assertEqual(self.playbook.coordinator.state.registry.recorded_bytes(), 0)
        for limit, is_kept in ((size, True), (size - 1, False), (0, True)):
            self.setUp()
            self.records_with(limit)
            self.worker.sends(inbound.RecordingQuery("1", "buys", "q"))
            (effect,) = self.playbook.take()
            assert isinstance(effect, WriteRecording)
            self.assertEqual(len(effect.exchanges), is_kept)
            self.assertEqual("--recording-bytes" in effect.error, not is_kept)

    def records_with(self, limit: int | None) -> None:
        """Record an answer under a limit, and give it to the application."""
        if limit is not None:
            state = self.playbook.coordinator.state
            state.settings = evolve(state.settings, recording_bytes=limit)
        self.asks()
        decision, _ = self.answers()
        self.assertEqual(decision.response.status, 201)

    def test_stays_dropped(self) -> None:
        """What comes later is not recorded either: a part of a recording is worth nothing."""
        kept = HarRecording(SerializedRecording())
        large, small = (Exchange(request(), "x" * count, 0, 0) for count in (1000, 1))
        kept.add(small, None)
        kept.add(large, small.size)
        kept.add(small, None)
        self.assertEqual((kept.exchanges, kept.size, kept.is_dropped), ([], 0, True))

    def test_unrouted(self) -> None:
        """What was recorded stays after the route is removed, until the test ends."""
        self.asks()
        self.answers()
        self.worker.sends(inbound.RouteUnregister("q"))
        self.playbook.take()
        self.assertEqual(len(self.recorded()), 1)

    def test_end(self) -> None:
        """A test that ends during the fetch fails, and the answer that comes later is dropped."""
        self.asks()
        self.worker.sends(inbound.TestUnregister("buys"))
        errors = [each for each in self.sent() if isinstance(each, outbound.ProxyError)]
        self.assertIn("ended before the handler", errors[0].message)
        self.assertEqual(self.answers(), [])
