"""The HTTP parser: what is too long or malformed is answered, and then nothing is read."""

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import Answer, Connection, Service, record
from trafficmock.http.http_limits import LINGER_SECONDS, HttpLimits

LIMIT = 2000
GOOD = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"


class ChannelTests(SynchronousTestCase):
    """Limits and bad requests."""

    def connect(self) -> Connection:
        self.service = Service(limits=HttpLimits(max_header_bytes=LIMIT))
        return self.service.connect()

    def refused(self, data: bytes) -> Answer:
        """Send ``data`` and then a good request, which must not be answered any more."""
        connection = self.connect()
        connection.send(data)
        connection.send(GOOD)
        self.assertTrue(connection.transport.half_closed)
        self.assertEqual(connection.transport.value().count(b"HTTP/1.1 "), 1)
        answer = connection.take()
        self.assertEqual(answer.headers["content-type"], "application/json; charset=utf-8")
        self.assertEqual(answer.headers["connection"], "close")
        self.assertEqual(answer.headers["content-length"], str(len(answer.body)))
        return answer

    def test_header_size(self) -> None:
        """A head over the limit is a 431 that names the option, however it is put together."""
        line = b"a: " + b"x" * 500 + b"\r\n"
        for data in (
            b"GET /" + b"x" * LIMIT + b" HTTP/1.1\r\n",
            b"x" * (LIMIT + 10),
            b"GET /health HTTP/1.1\r\n" + line * 4,
            b"GET /health HTTP/1.1\r\na: " + b"x" * LIMIT,
            b"GET /health HTTP/1.1\r\na: 1\r\n" + b" x\r\n" * LIMIT,
        ):
            answer = self.refused(data)
            self.assertEqual((answer.status, answer.json()["error"]), (431, "headers_too_large"))
            self.assertIn("--max-header-bytes", answer.json()["message"])

    def test_header_count(self) -> None:
        """Too many header lines are a 431, too."""
        service = Service()
        connection = service.connect()
        connection.send(b"GET /health HTTP/1.1\r\n" + b"a: 1\r\n" * 600)
        self.assertEqual(connection.take().status, 431)

    def test_within_limit(self) -> None:
        """A head just within the limit is read, on each request of a connection anew."""
        connection = self.connect()
        for _ in range(3):
            connection.send(GOOD[:-2] + b"a: " + b"x" * (LIMIT - 100) + b"\r\n\r\n")
            self.assertEqual(connection.take().status, 200)

    def test_malformed(self) -> None:
        """What is no HTTP/1.1 is a 400 in the common error shape."""
        for data in (
            b"hello\r\n",
            b"GET / HTTP/2.0\r\n",
            b"GET  / HTTP/1.1\r\n",
            b"\x16\x03\x01\x02\r\n",
            b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
            b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
            b"GET / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
            b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ):
            answer = self.refused(data)
            self.assertEqual((answer.status, answer.json()["error"]), (400, "bad_request"), data)

    def test_lingering(self) -> None:
        """A refused client has a moment to read why; then the connection is closed for good."""
        connection = self.connect()
        connection.send(b"hello\r\n")
        self.assertFalse(connection.transport.disconnecting)
        connection.clock.advance(LINGER_SECONDS)
        self.assertTrue(connection.transport.disconnecting)
        connection.lose()
        self.assertEqual(connection.clock.getDelayedCalls(), [])

    def test_idle(self) -> None:
        """A silent connection is closed, in the middle of a head, too, and between requests."""
        for data in (b"", b"GET /hea", GOOD):
            connection = self.connect()
            connection.send(data)
            connection.clock.advance(self.service.limits.idle_seconds)
            self.assertTrue(connection.transport.disconnecting, data)
            connection.lose()
            self.assertEqual(connection.clock.getDelayedCalls(), [])

    def test_idle_in_the_log(self) -> None:
        """Our log does not speak of it; Twisted does, where libraries are heard."""
        connection = self.connect()
        with capturedLogs() as events:
            connection.clock.advance(self.service.limits.idle_seconds)
        self.assertTrue(connection.transport.disconnecting)
        self.assertEqual([each["log_namespace"] for each in events], ["twisted.web.http"])

    def test_dripping(self) -> None:
        """A head has its time once, however often a piece of it comes; then it is too late."""
        connection = self.connect()
        for number in range(4):
            connection.send(GOOD[number : number + 1])
            connection.clock.advance(self.service.limits.idle_seconds / 4)
        self.assertTrue(connection.transport.disconnecting)
        connection.lose()
        self.assertEqual(connection.clock.getDelayedCalls(), [])

    def test_body_takes_its_time(self) -> None:
        """Each piece of a body gives the rest of it more time."""
        connection = self.connect()
        connection.send(b"POST /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n")
        for _ in range(9):
            connection.clock.advance(self.service.limits.idle_seconds / 2)
            connection.send(b"x")
        self.assertEqual(connection.take().status, 405)

    def test_half_closed(self) -> None:
        """Who closes his direction behind his requests gets all answers, and then the end."""
        connection = self.connect()
        record(self.service.history, "large", body=b"x" * 3_000_000)
        channel = connection.transport.protocol
        channel.dataReceived(GOOD.replace(b"/health", b"/api/history") + GOOD)
        channel.readConnectionLost()
        self.assertFalse(connection.transport.disconnecting)
        connection.turn()
        self.assertEqual(connection.transport.value().count(b"HTTP/1.1 200"), 2)
        self.assertTrue(connection.transport.disconnecting)

    def test_half_closed_early(self) -> None:
        """Who closes his direction before his request is whole gets the end only."""
        for data in (b"", b"GET /hea", GOOD[:-2], GOOD[:-2] + b"content-length: 2\r\n\r\nx"):
            connection = self.connect()
            connection.send(data)
            connection.transport.protocol.readConnectionLost()
            self.assertEqual(connection.transport.value(), b"")
            self.assertTrue(connection.transport.disconnecting, data)

    @given(
        st.lists(
            st.one_of(
                st.binary(max_size=40),
                st.sampled_from([GOOD, b"\r\n", b"GET ", b" HTTP/1.1\r\n", b"host: localhost\r\n"]),
                st.sampled_from([b"content-length: 5\r\n", b"transfer-encoding: chunked\r\n"]),
            ),
            max_size=8,
        )
    )
    @example([b"GET \xa0 HTTP/1.1\r\nhost: \xff\r\n\r\n"])
    @example([b"OPTIONS * HTTP/1.1\r\n", b"host: localhost\r\n", b"\r\n"])
    def test_anything(self, pieces: list[bytes]) -> None:
        """Whatever arrives, in whatever pieces, no answer is a 500 and nothing is logged."""
        connection = self.connect()
        for piece in pieces:
            connection.send(piece)
        self.assertNotIn(b"HTTP/1.1 500", connection.transport.value())
        self.assertEqual(self.flushLoggedErrors(), [])
        connection.lose()
        self.assertEqual(connection.clock.getDelayedCalls(), [])
