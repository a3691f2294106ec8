"""What is sent to a collector, and what becomes of its answers."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

from attrs import define, field
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ConnectionRefusedError as RefusedError
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.client import ResponseNeverReceived

from tests.support.self_signed import write_certificate
from trafficmock.errors import LocalError
from trafficmock.telemetry.export_settings import Destination
from trafficmock.telemetry.otlp_client import Collector, NotSentError, Taken, make_agent

URL = "http://collector.test:4318/v1/traces"


@define
class FakeResponse:
    """An answer of a collector, whose body comes at once."""

    code: int
    body: bytes = b""
    aborted: bool = False

    def deliverBody(self, protocol: Any) -> None:
        protocol.makeConnection(self)
        for at in range(0, len(self.body), 16_384):
            protocol.dataReceived(self.body[at : at + 16_384])
        protocol.connectionLost()

    def loseConnection(self) -> None:
        self.aborted = True


@define
class FakeAgent:
    """Keeps requests, and answers them as a test says."""

    answer: Any
    requests: list[tuple[bytes, bytes, dict[bytes, list[bytes]], bytes]] = field(factory=list)

    def request(self, method: bytes, url: bytes, headers: Any, producer: Any) -> Deferred[Any]:
        written: list[bytes] = []
        consumer: Any = type("Consumer", (), {"write": lambda _, data: written.append(data)})()
        producer.startProducing(consumer)
        assert sum(map(len, written)) == producer.length
        got = dict(headers.getAllRawHeaders())
        self.requests.append((method, url, got, b"".join(written)))
        if isinstance(self.answer, Deferred):
            return self.answer
        return succeed(self.answer)


class _Threads:
    """Runs the work of threads at once."""

    def getThreadPool(self) -> _Threads:
        return self

    def callInThreadWithCallback(self, done: Any, work: Any, *args: Any) -> None:
        done(True, work(*args))  # noqa: FBT003 - Twisted's signature

    def callFromThread(self, call: Any, *args: Any) -> None:
        call(*args)


class ThreadedClock(_Threads, Clock):
    """A clock with a pool of threads."""


class CollectorTests(SynchronousTestCase):
    """OTLP over HTTP."""

    def setUp(self) -> None:
        self.clock = ThreadedClock()

    def collector(self, answer: Any, **destination: Any) -> Collector:
        agent: Any = FakeAgent(answer)
        self.agent = agent
        return Collector(Destination(URL, **destination), self.agent, "trafficmock/1", self.clock)

    def send(self, collector: Collector) -> Deferred[Taken]:
        return Deferred.fromCoroutine(collector.send([b"spans" * 50] * 2))

    def test_request(self) -> None:
        """A POST of protocol buffers, with the headers of the user."""
        collector = self.collector(FakeResponse(200), headers=(("Api-Key", "k"),))
        self.assertEqual(self.successResultOf(self.send(collector)), Taken())
        ((method, url, headers, body),) = self.agent.requests
        self.assertEqual((method, url, body), (b"POST", URL.encode(), b"spans" * 100))
        self.assertEqual(headers[b"Content-Type"], [b"application/x-protobuf"])
        self.assertEqual(
            (headers[b"Api-Key"], headers[b"User-Agent"]), ([b"k"], [b"trafficmock/1"])
        )

    def test_gzip(self) -> None:
        """A body may be compressed, on a thread."""
        collector = self.collector(FakeResponse(200), gzip=True)
        self.successResultOf(self.send(collector))
        ((_, _, headers, body),) = self.agent.requests
        self.assertEqual(headers[b"Content-Encoding"], [b"gzip"])
        self.assertEqual(gzip.decompress(body), b"spans" * 100)

    def test_partial_success(self) -> None:
        """A collector may take a part; an answer that is no message counts as nothing to say."""
        partial = ExportTracePartialSuccess(rejected_spans=3, error_message="too old")
        answer = ExportTraceServiceResponse(partial_success=partial).SerializeToString()
        taken = self.successResultOf(self.send(self.collector(FakeResponse(200, answer))))
        self.assertEqual(taken, Taken(3, "too old"))
        odd = self.collector(FakeResponse(200, b"\x0a\xff\xff"))
        self.assertEqual(self.successResultOf(self.send(odd)), Taken())

    def test_statuses(self) -> None:
        """Data may be sent again after some statuses, not after others."""
        for status, again in ((429, True), (503, True), (400, False), (401, False), (500, False)):
            sent = self.send(self.collector(FakeResponse(status)))
            error = self.failureResultOf(sent, NotSentError).value
            self.assertEqual((error.again, str(status) in str(error)), (again, True))

    def test_away(self) -> None:
        """Without a connection data may be sent again; the reason is said."""
        failed: Deferred[Any] = Deferred()
        sent = self.send(self.collector(failed))
        failed.errback(ResponseNeverReceived([Failure(RefusedError("nobody there"))]))
        error = self.failureResultOf(sent, NotSentError).value
        self.assertTrue(error.again)
        self.assertIn("nobody there", str(error))

    def test_timeout(self) -> None:
        """A collector that does not answer in time."""
        sent = self.send(self.collector(Deferred(), seconds=2.0))
        self.clock.advance(2.0)
        self.assertTrue(self.failureResultOf(sent, NotSentError).value.again)

    def test_long_answer(self) -> None:
        """The beginning of a long answer is enough."""
        response = FakeResponse(200, b"x" * 200_000)
        self.successResultOf(self.send(self.collector(response)))
        self.assertTrue(response.aborted)

    def test_shown(self) -> None:
        """Messages name the collector without credentials."""
        agent: Any = FakeAgent(None)
        collector = Collector(Destination("http://u:p@c.test/v1/traces"), agent, "", self.clock)
        self.assertEqual(collector.shown, "http://...@c.test/v1/traces")


class AgentTests(SynchronousTestCase):
    """Files for TLS."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.reactor: Any = Clock()

    def test_files(self) -> None:
        """An authority, and a certificate of this client with its key."""
        pem = str(write_certificate(self.folder))
        make_agent(Destination(URL, certificate=pem), self.reactor)
        make_agent(Destination(URL, client_certificate=pem, client_key=pem), self.reactor)

    def test_missing(self) -> None:
        """A file that is missing, or has no certificate, is an error that names it."""
        missing = str(self.folder / "missing.pem")
        empty = Path(tempfile.mkstemp(dir=self.folder)[1])
        broken = self.folder / "broken.pem"
        broken.write_text("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n")
        for file in (missing, str(empty), str(broken)):
            with self.assertRaises(LocalError):
                make_agent(Destination(URL, certificate=file), self.reactor)
        with self.assertRaises(LocalError):
            make_agent(
                Destination(URL, client_certificate=missing, client_key=missing), self.reactor
            )
