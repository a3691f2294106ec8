"""Streamed mocks: pieces go to the agent, acknowledgements to the worker, and every end is told."""

from typing import Any

from attrs import evolve
from msgspec import UNSET, structs

from tests.core.http.test_chains import FEATURES, ChainCase
from tests.support.builders import response, start, text
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.inbound import (
    MAX_STREAM_PIECE_BYTES,
    STREAM_WINDOW_BYTES,
    STREAM_WINDOW_PIECES,
    StreamAbort,
    StreamAck,
    StreamClosed,
    StreamData,
    StreamEnd,
)
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Abort, Fulfill

AGENT = ("context", "headers-list", "stream", "stream-mocks")


def piece(seq: int, content: bytes = b"data") -> StreamData:
    return StreamData("r1", seq, body.from_bytes(content))


class StreamCase(ChainCase):
    """A worker that knows streams, whose test answers by one."""

    features: tuple[str, ...] = AGENT

    def setUp(self) -> None:
        super().setUp()
        self.agent = self.playbook.agent("streaming", features=self.features)
        self.worker = self.playbook.worker("1", features=sorted((*FEATURES, "stream-mocks")))
        self.test = self.worker.test("chats")
        self.test.route()
        self.agent.sends(start("r1", client_id="streaming"))
        self.run_id = self.sent(self.playbook.take(), outbound.HandlerRun).run_id
        self.begun = self.does(Fulfill(response(), stream=True), self.run_id)

    def writes(self, message: inbound.Message) -> Effects:
        self.worker.sends(message)
        return self.playbook.take()

    def hears(self, message: inbound.Message) -> Effects:
        self.agent.sends(message)
        return self.playbook.take()


class LimitTests(StreamCase):
    """The part of an answer that is kept, with limits of a few bytes."""

    def setUp(self) -> None:
        super().setUp()
        self.limited(history_body_bytes=6)

    def limited(self, **limits: Any) -> None:
        """Change limits while the stream is open."""
        state = self.playbook.coordinator.state
        state.settings = evolve(state.settings, **limits)

    def ended(self, seq: int) -> Any:
        """End the answer; give what is recorded of it."""
        recorded = self.writes(StreamEnd("r1", seq))[0]
        assert isinstance(recorded, records.StreamEnded)
        return recorded.response

    def test_beyond(self) -> None:
        """What the history has no room for is counted, and goes on to the application."""
        self.writes(piece(1))
        effects = self.writes(piece(2))
        self.assertIn(self.agent.gets(piece(2)), effects)
        self.writes(piece(3))
        found = self.ended(4)
        self.assertEqual(body.to_bytes(found.body_base64), b"datada")
        self.assertEqual((found.truncated, found.body_size), (True, 12))

    def test_just_fits(self) -> None:
        """A body of the very size of the limit is whole."""
        self.writes(piece(1))
        self.writes(piece(2, b"da"))
        found = self.ended(3)
        self.assertEqual(body.to_bytes(found.body_base64), b"datada")
        self.assertIs(found.truncated, UNSET)

    def test_ignored(self) -> None:
        """A route that was removed with ``ignoreErrors`` fails no test by its open stream."""
        self.writes(inbound.RouteUnregister(test_id="chats", behavior="ignoreErrors"))
        effects = self.writes(inbound.TestUnregister("chats"))
        sent = [type(each.message) for each in effects if isinstance(each, Send)]
        self.assertNotIn(outbound.ProxyError, sent)
        self.assertIn(StreamAbort, sent)


class KnownTests(StreamCase):
    """The agent knows streams."""

    def test_begin(self) -> None:
        """The head is recorded and sent at once."""
        recorded, decided = self.begun
        assert isinstance(recorded, records.RequestFulfilled)
        self.assertTrue(recorded.body_pending)
        wanted = outbound.DecisionFulfill("r1", response(), stream=True)
        self.assertEqual(decided, self.agent.gets(wanted))

    def test_pieces(self) -> None:
        """A piece goes to the agent, its acknowledgement to the worker; the end is recorded."""
        self.assertEqual(
            self.writes(piece(1)),
            [records.StreamPieceSent("r1", 4), self.agent.gets(piece(1))],
        )
        ack = StreamAck("r1", 1)
        self.assertEqual(self.hears(ack), [self.worker.gets(ack)])
        recorded, sent = self.writes(StreamEnd("r1", 2))
        whole = response(content=b"data")
        self.assertEqual(recorded, records.StreamEnded("r1", whole, None))
        self.assertEqual(sent, self.agent.gets(StreamEnd("r1", 2)))
        self.hears(StreamAck("r1", 2))
        self.assertEqual(self.playbook.coordinator.streams.open, {})

    def test_abort(self) -> None:
        """The test breaks the answer off."""
        self.writes(piece(1))
        cut = StreamAbort("r1", 2, "connectionreset")
        recorded, sent = self.writes(cut)
        assert isinstance(recorded, records.StreamEnded)
        self.assertIn("connectionreset", recorded.failure or "")
        self.assertEqual(sent, self.agent.gets(cut))

    def test_application_closes(self) -> None:
        """The worker is told once, and later pieces are ignored."""
        recorded, told = self.hears(StreamClosed("r1"))
        assert isinstance(recorded, records.StreamEnded)
        self.assertEqual(told, self.worker.gets(StreamClosed("r1", "application")))
        self.assertEqual(self.writes(piece(1)), [])

    def test_given_up(self) -> None:
        """An application that gives its request up before it has the head closes the answer."""
        told = self.sent(self.hears(inbound.RequestCancel("r1")), StreamClosed)
        self.assertEqual(told, StreamClosed("r1", "application"))
        self.assertEqual(self.writes(piece(1)), [])

    def test_agent_lost(self) -> None:
        """The worker is told that the application's connection is lost."""
        self.playbook.disconnect(self.agent.id)
        self.assertEqual(self.playbook.take()[1], self.worker.gets(StreamClosed("r1", "agent")))

    def test_test_ends(self) -> None:
        """An open stream is broken off and fails the test."""
        self.writes(piece(1))
        effects = self.writes(inbound.TestUnregister("chats"))
        self.assertIn(self.agent.gets(StreamAbort("r1", 2, "connectionreset")), effects)
        self.assertEqual(self.sent(effects, StreamClosed).reason, "ended")
        error = self.sent(effects, outbound.ProxyError)
        self.assertEqual((error.code, error.message), ("disconnected", text("end()", "GET")))

    def test_test_ends_behind(self) -> None:
        """A stream that the test has ended does not fail it, acknowledged or not."""
        self.writes(StreamEnd("r1", 1))
        effects = self.writes(inbound.TestUnregister("chats"))
        self.assertEqual(
            [type(each.message) for each in effects if isinstance(each, Send)],
            [outbound.TestUnregistered],
        )
        self.hears(StreamAck("r1", 1))

    def test_never_acknowledged(self) -> None:
        """Of an answer whose end an agent does not acknowledge nothing is kept behind the test."""
        self.writes(piece(1))
        self.writes(StreamEnd("r1", 2))
        (stream,) = self.playbook.coordinator.streams.open.values()
        self.assertEqual(stream.kept, b"")
        self.test.ends()
        self.playbook.take()
        self.assertEqual(self.playbook.coordinator.streams.open, {})
        self.assertEqual(self.hears(StreamAck("r1", 2)), [])

    def test_tiny_pieces(self) -> None:
        """A worker may have so many pieces unacknowledged, however small, and their end."""
        for seq in range(1, STREAM_WINDOW_PIECES + 1):
            self.writes(piece(seq, b"x"))
        (broken, _, closed, failed) = self.writes(piece(STREAM_WINDOW_PIECES + 1, b"x"))
        assert isinstance(broken, Send) and isinstance(broken.message, StreamAbort)
        assert isinstance(closed, Send) and isinstance(closed.message, StreamClosed)
        assert isinstance(failed, Send) and isinstance(failed.message, outbound.ProxyError)
        self.assertIn("in 1001 pieces", failed.message.message)

    def test_worker_lost(self) -> None:
        """The answer is broken off as by a server that dies."""
        self.playbook.disconnect(self.worker.id)
        effects = self.playbook.take()
        self.assertIn(self.agent.gets(StreamAbort("r1", 1, "connectionreset")), effects)

    def test_rules(self) -> None:
        """A gap in the numbers and a piece above the limit break the stream off."""
        for message in (piece(2), piece(1, b"x" * (MAX_STREAM_PIECE_BYTES + 1))):
            with self.subTest(seq=message.seq):
                self.setUp()
                effects = self.writes(message)
                self.assertEqual(self.sent(effects, StreamClosed).reason, "limit")
                self.assertEqual(self.sent(effects, outbound.ProxyError).code, "handler_failed")
                self.assertEqual(self.sent(effects, StreamAbort).error_code, "connectionreset")

    def test_window(self) -> None:
        """Bytes that are not acknowledged are limited; acknowledged ones do not count."""
        count = STREAM_WINDOW_BYTES // MAX_STREAM_PIECE_BYTES
        full = b"x" * MAX_STREAM_PIECE_BYTES
        for seq in range(1, count + 1):
            self.writes(piece(seq, full))
        self.hears(StreamAck("r1", 1))
        self.assertEqual(self.sent(self.writes(piece(count + 1, full)), StreamData).seq, count + 1)
        effects = self.writes(piece(count + 2, b"x"))
        self.assertEqual(self.sent(effects, StreamClosed).reason, "limit")

    def test_invalid_head(self) -> None:
        """A head that is no valid HTTP fails the request and the test."""
        self.agent.sends(start("r2", client_id="streaming"))
        run = self.sent(self.playbook.take(), outbound.HandlerRun)
        bad = Fulfill(response(199), stream=True)
        effects = self.writes(inbound.HandlerResult("r2", bad, run.run_id))
        self.assertEqual(self.sent(effects, outbound.DecisionError).code, "handler_failed")

    def test_id_used_again(self) -> None:
        """A stream ends when its agent begins another request with the same id."""
        self.agent.sends(start("r1", client_id="streaming"))
        run = self.sent(self.playbook.take(), outbound.HandlerRun)
        effects = self.does(Fulfill(response(), stream=True), run.run_id)
        self.assertEqual(self.sent(effects, StreamClosed).reason, "application")
        self.assertEqual(self.sent(self.writes(piece(1)), StreamData).seq, 1)

    def test_stop(self) -> None:
        """The service breaks open answers off when it stops."""
        self.playbook.stop()
        effects = self.playbook.take()
        self.assertEqual(self.sent(effects, StreamAbort).error_code, "connectionreset")
        self.assertEqual(self.sent(effects, StreamClosed).reason, "ended")

    def test_bodiless(self) -> None:
        """A response to HEAD is complete with its head, and its pieces are acknowledged."""
        asked = start("r2", client_id="streaming")
        head = structs.replace(asked, request=structs.replace(asked.request, method="HEAD"))
        self.agent.sends(head)
        run = self.sent(self.playbook.take(), outbound.HandlerRun)
        answer = Fulfill(response(), stream=True)
        effects = self.writes(inbound.HandlerResult("r2", answer, run.run_id))
        self.assertIs(self.sent(effects, outbound.DecisionFulfill).stream, UNSET)
        effects = self.writes(StreamData("r2", 1, b"x"))
        self.assertEqual(self.sent(effects, StreamAck).seq, 1)


class UnknownTests(StreamCase):
    """The agent does not know streams: it gets the whole body at the end."""

    features = ("context", "headers-list", "stream")

    def test_collected(self) -> None:
        self.assertEqual(self.begun, [])
        effects = self.writes(piece(1))
        self.assertEqual(self.sent(effects, StreamAck).seq, 1)
        self.writes(piece(2, b" more"))
        effects = self.writes(StreamEnd("r1", 3))
        answer: Any = self.sent(effects, outbound.DecisionFulfill)
        self.assertEqual(body.to_bytes(answer.response.body_base64), b"data more")

    def test_size(self) -> None:
        """The whole answer may be as large as a handler's body, and no larger."""
        state = self.playbook.coordinator.state
        state.settings = evolve(state.settings, handler_body_bytes=8)
        self.writes(piece(1))
        effects = self.writes(piece(2))
        self.assertEqual(self.sent(effects, StreamAck).seq, 2)
        effects = self.writes(piece(3, b"x"))
        self.assertIn("takes answers of 8 bytes", self.sent(effects, StreamClosed).message)

    def test_abort(self) -> None:
        effects = self.writes(StreamAbort("r1", 1, "connectionreset"))
        self.assertEqual(self.sent(effects, outbound.DecisionAbort).error_code, "connectionreset")

    def test_given_up(self) -> None:
        """If the application gives the request up, the stream is closed."""
        effects = self.hears(inbound.RequestCancel("r1"))
        self.assertEqual(self.sent(effects, StreamClosed).reason, "application")
        self.assertEqual(self.writes(piece(1)), [])

    def test_decided_twice(self) -> None:
        """A stream that collects holds the request: another decision of its run ends it."""
        effects = self.does(Abort("failed"), self.run_id)
        self.assertEqual(self.sent(effects, outbound.DecisionAbort).error_code, "failed")
        effects = self.writes(piece(1))
        self.assertEqual(self.sent(effects, StreamClosed).reason, "application")
