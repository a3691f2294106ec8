"""The writing end of a streamed answer: what waits, what is sent, and how each wait ends."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, SessionHarness
from trafficmock.testing.errors import StreamClosedError, UsageError, WaitTimeoutError
from trafficmock.testing.session.arguments.stream_parts import content_of, server_sent_event
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.handlers.written_stream import STREAM_SEND_TIMEOUT
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

PIECES = STREAM_WINDOW_BYTES // MAX_STREAM_PIECE_BYTES


class WrittenStreamTests(SynchronousTestCase):
    """A handler has begun an answer."""

    def setUp(self) -> None:
        self.harness = SessionHarness()
        self.calls: list[Any] = []
        matcher = make_matcher(URL, base_url=None)
        handler = lambda routed, done: self.calls.append((routed, done))  # noqa: E731
        self.harness.session.http.route(matcher, handler, place="test_chat.py:7")
        self.harness.matched()
        ((routed, self.done),) = self.calls
        self.stream = routed.stream({})[0]
        self.harness.acknowledge()
        self.sent: list[Any] = self.harness.link.sent
        self.sent.clear()

    def test_window(self) -> None:
        """More than the window waits for acknowledgements, and the end waits for it."""
        sending = self.stream.send(b"x" * (STREAM_WINDOW_BYTES + 1))
        ending = self.stream.end()
        self.assertEqual([each.seq for each in self.sent], [*range(1, PIECES + 1)])
        self.harness.receive(StreamAck("r1", 1))
        self.assertEqual([type(each) for each in self.sent[PIECES:]], [StreamData, StreamEnd])
        self.assertFalse(sending.done)
        self.harness.receive(StreamAck("r1", PIECES + 1))
        self.assertEqual((sending.done, sending.error, ending.done), (True, None, False))
        self.harness.receive(StreamAck("r1", PIECES + 2))
        self.assertEqual((ending.done, ending.error), (True, None))
        self.assertEqual(self.harness.link.clock.getDelayedCalls(), [])

    def test_many_pieces(self) -> None:
        """Tiny pieces wait as well, if there are so many of them."""
        for _ in range(STREAM_WINDOW_PIECES + 2):
            self.stream.send(b"x")
        self.assertEqual(len(self.sent), STREAM_WINDOW_PIECES)
        self.stream.end()
        self.harness.receive(StreamAck("r1", 2))
        last = self.sent[STREAM_WINDOW_PIECES:]
        self.assertEqual([type(each) for each in last], [StreamData, StreamData, StreamEnd])
        self.harness.receive(StreamAck("r1", STREAM_WINDOW_PIECES + 3))

    def test_not_read(self) -> None:
        """The error names the request, the route and the time."""
        sending = self.stream.send(b"x")
        self.harness.link.clock.advance(STREAM_SEND_TIMEOUT)
        self.assertIsInstance(sending.error, WaitTimeoutError)
        for part in (URL, "test_chat.py:7", "read nothing for 30 s"):
            self.assertIn(part, str(sending.error))

    def test_closed(self) -> None:
        """What waits and all later calls fail, and nothing more is sent."""
        sending = self.stream.send(b"x")
        self.harness.receive(StreamClosed("r1", "application"))
        self.assertIsInstance(sending.error, StreamClosedError)
        self.sent.clear()
        self.assertRaises(StreamClosedError, self.stream.send, b"y")
        self.assertEqual(self.sent, [])

    def test_left(self) -> None:
        """An application that closes the answer leaves nothing to end, before the end or behind."""
        self.harness.receive(StreamClosed("r1", "application"))
        self.sent.clear()
        for conclude in (self.stream.end, lambda: self.stream.abort("failed")):
            self.assertEqual((conclude().done, conclude().error), (True, None))
        self.assertEqual(self.sent, [])
        self.assertRaises(StreamClosedError, self.stream.send, b"late")

    def test_left_while_it_ends(self) -> None:
        """Nor does the end on its way fail; what was not read before it does."""
        sending, ending = self.stream.send(b"x"), self.stream.end()
        self.harness.receive(StreamClosed("r1", "application"))
        self.assertIsInstance(sending.error, StreamClosedError)
        self.assertEqual((ending.done, ending.error), (True, None))

    def test_lost(self) -> None:
        """An end whose application's connection is lost fails."""
        self.harness.receive(StreamClosed("r1", "agent"))
        self.assertRaises(StreamClosedError, self.stream.end)

    def test_handler_fails(self) -> None:
        """The answer breaks off, and the error is the test's."""
        self.done(None, RuntimeError("broken"))
        self.assertEqual(self.sent, [StreamAbort("r1", 1, "connectionreset")])
        (error,) = self.harness.session.errors
        self.assertIn("broken", str(error))

    def test_ended(self) -> None:
        """Nothing can be sent behind the end; a second end changes nothing."""
        ending = self.stream.end()
        self.assertIs(self.stream.end(), ending)
        self.assertRaises(UsageError, self.stream.send, b"x")
        self.assertRaises(UsageError, self.stream.abort, "failed")


class ContentTests(SynchronousTestCase):
    """What is sent of the arguments."""

    def test_events(self) -> None:
        """Each line of the data is a field; line breaks of all kinds count."""
        event = server_sent_event("a\r\nb\rc", "token", "7", 100, None)
        self.assertEqual(event, b"event: token\nid: 7\nretry: 100\ndata: a\ndata: b\ndata: c\n\n")
        self.assertEqual(server_sent_event("", None, None, None, None), b"data: \n\n")
        self.assertEqual(server_sent_event(None, None, None, None, {"a": 1}), b'data: {"a": 1}\n\n')

    def test_refused(self) -> None:
        """Values that would break an event up are refused, and so is what is not content."""
        refused: tuple[tuple[Any, ...], ...] = (
            ("a", "to\nken", None, None, None),
            ("a", None, "7\0", None, None),
            ("a", None, None, -1, None),
            ("a", None, None, None, {}),
            (None, None, None, None, None),
        )
        for arguments in refused:
            with self.subTest(arguments=arguments):
                self.assertRaises(UsageError, server_sent_event, *arguments)
        self.assertRaises(UsageError, content_of, {"a": 1})
