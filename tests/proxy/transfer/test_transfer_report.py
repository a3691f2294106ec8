"""What the coordinator is told of requests on their way."""

from __future__ import annotations

import gzip
from typing import Any

from attrs import Factory, define, field
from msgspec import UNSET
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.heads import parse_response
from trafficmock.proxy.transfer.body_decoding import Decoders
from trafficmock.proxy.transfer.transfer_report import TransferReport
from trafficmock.proxy.upstream_errors import UpstreamError
from trafficmock.wire.outbound import BodyLimits
from trafficmock.wire.payloads import body


@define(eq=False)
class Coordinator:
    """A proxy client that keeps what it is to say."""

    limits: BodyLimits | None
    sent: list[Any] = field(factory=list)
    redirects: list[tuple[str, str, str | None]] = field(factory=list)
    clock: Clock = field(factory=Clock)
    decoders: Decoders = field(default=Factory(lambda self: Decoders(self.clock), takes_self=True))

    def send(self, message: Any) -> None:
        self.sent.append(message)

    def redirected(self, request_id: str, url: str, context_id: str | None) -> None:
        self.redirects.append((request_id, url, context_id))


@define
class Proxied:
    """What is reported on."""

    proxy_client: Coordinator
    id: str = "r"
    context_id: str | None = "A"


def report(body: bytes | None = None, *, history: int = 4) -> tuple[Any, TransferReport]:
    proxied: Any = Proxied(Coordinator(BodyLimits(history=history, handler=8)))
    return proxied.proxy_client, TransferReport(proxied, "http://a.test/x", body)


HEAD = parse_response(b"HTTP/1.1 200 OK\r\nA: b")


class ReportTests(SynchronousTestCase):
    """The order and number of reports (feature ``stream``)."""

    def test_body_first(self) -> None:
        """The copy of the request's body comes before the response, cut to the limit."""
        proxy_client, made = report(b"01")
        made.request_data(b"234567")
        made.request_complete()
        made.response_head(HEAD, HEAD.pairs, body=True)
        made.response_data(b"ok")
        made.report_end(None)
        copied, reported = proxy_client.sent
        self.assertEqual((copied.truncated, copied.body_size), (True, 8))
        self.assertEqual(body.to_bytes(copied.body_base64), b"0123")
        self.assertEqual((reported.ok, body.to_bytes(reported.response.body_base64)), (True, b"ok"))

    def test_head_then_whole(self) -> None:
        """A head is told once, and before the body of a request that is complete."""
        proxy_client, made = report(b"01")
        made.request_complete()
        made.report_head()
        self.assertEqual(proxy_client.sent, [])
        made.response_head(HEAD, HEAD.pairs, body=True)
        made.report_head()
        made.report_head()
        self.assertEqual(
            [type(m).__name__ for m in proxy_client.sent], ["RequestBody", "RequestResponse"]
        )
        self.assertEqual(
            (proxy_client.sent[0].truncated, proxy_client.sent[1].body_pending), (UNSET, True)
        )

    def test_failure(self) -> None:
        """What came of an answer is told with what ended it; the end is told once."""
        proxy_client, made = report()
        made.response_head(HEAD, HEAD.pairs, body=True)
        made.response_data(b"ha")
        made.report_end(UpstreamError("gone", code="x", errno="ECONNRESET"))
        made.report_end(None)
        (reported,) = proxy_client.sent
        self.assertEqual((reported.ok, reported.error.code), (False, "ECONNRESET"))
        self.assertEqual(body.to_bytes(reported.response.body_base64), b"ha")

    def test_cut_off(self) -> None:
        """A body that never came to its end is marked as cut."""
        proxy_client, made = report(b"")
        made.report_end(UpstreamError("gone", code="x"))
        self.assertEqual(
            (proxy_client.sent[0].truncated, proxy_client.sent[0].body_size), (True, 0)
        )

    def test_redirect(self) -> None:
        """Where a redirect leads is remembered."""
        proxy_client, made = report()
        head = parse_response(b"HTTP/1.1 302 x\r\nLocation: /y")
        made.response_head(head, head.pairs, body=False)
        made.report_end(None)
        self.assertEqual(proxy_client.redirects, [("r", "http://a.test/y", "A")])

    def test_coded(self) -> None:
        """A body is reported decoded; a long decoding is spread over turns of the reactor."""
        for content, turns in ((b"plain", False), (b"0" * 4_000_000, True)):
            proxy_client, made = report(history=8 << 20)
            self.answer(made, b"200 OK", gzip.compress(content))
            self.assertEqual(proxy_client.sent == [], turns)
            while proxy_client.clock.getDelayedCalls():
                proxy_client.clock.advance(1)
            (reported,) = proxy_client.sent
            self.assertEqual(body.to_bytes(reported.response.body_base64), content)
            self.assertNotIn("content-encoding", reported.response.headers)

    def test_coded_redirect(self) -> None:
        """The report of a redirect does not wait for its body to be decoded."""
        proxy_client, made = report(history=8 << 20)
        coded = gzip.compress(b"0" * 4_000_000)
        self.answer(made, b"302 Found\r\nLocation: /y", coded)
        (reported,) = proxy_client.sent
        self.assertEqual(body.to_bytes(reported.response.body_base64), coded)

    @staticmethod
    def answer(made: TransferReport, line: bytes, coded: bytes) -> None:
        head = parse_response(b"HTTP/1.1 %s\r\nContent-Encoding: gzip" % line)
        made.response_head(head, head.pairs, body=True)
        made.response_data(coded)
        made.report_end(None)
