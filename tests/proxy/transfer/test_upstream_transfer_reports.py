"""The reports to the coordinator about requests that are sent to servers."""

import gzip
from typing import Any

from msgspec import UNSET
from twisted.internet.error import ConnectionLost
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, FakeTransport, ForwardProxyHarness
from tests.proxy.transfer.spying import spied
from trafficmock.wire.inbound import RequestBody, RequestResponse
from trafficmock.wire.payloads import body

POST = b"POST http://api.test/x HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n01"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"


class ReportTests(SynchronousTestCase):
    """The order and number of reports (feature ``stream``)."""

    def asked(
        self, data: bytes, *, history: int = 4
    ) -> tuple[ForwardProxyHarness, FakeTransport, list[Any]]:
        """Send a request, and return the client's transport and the reports that will be sent."""
        harness, sent = spied(self, history=history)
        client = harness.ask(data)
        del sent[0]
        return harness, client, sent

    def test_body_first(self) -> None:
        """The copy of the request's body comes before the response, cut to the limit."""
        harness, client, sent = self.asked(POST)
        client.sends(b"234567")
        harness.servers[0].sends(OK + b"fine")
        copied, reported = sent
        self.assertEqual((copied.truncated, copied.body_size), (True, 8))
        self.assertEqual(body.to_bytes(copied.body_base64), b"0123")
        self.assertEqual(
            (reported.ok, body.to_bytes(reported.response.body_base64)), (True, b"fine")
        )

    def test_head_then_whole(self) -> None:
        """A head is reported once, and after the body of a request that is complete."""
        harness, client, sent = self.asked(POST, history=100)
        client.sends(b"234567")
        harness.servers[0].sends(OK)
        harness.servers[0].sends(b"ok")
        self.assertEqual([type(each) for each in sent], [RequestBody, RequestResponse])
        self.assertEqual((sent[0].truncated, sent[1].body_pending), (UNSET, True))
        harness.servers[0].sends(b"ok")
        self.assertEqual((len(sent), sent[2].body_pending), (3, UNSET))

    def test_failure(self) -> None:
        """The part of a response that arrived is reported, once, with the reason of its end."""
        harness, _, sent = self.asked(GET)
        harness.servers[0].sends(OK + b"ha")
        harness.servers[0].lose(ConnectionLost())
        reported = sent[-1]
        self.assertEqual((len(sent), reported.ok, reported.error.code), (2, False, "ECONNRESET"))
        self.assertEqual(body.to_bytes(reported.response.body_base64), b"ha")

    def test_trailers(self) -> None:
        """Trailers are reported as they were written."""
        harness, _, sent = self.asked(GET)
        harness.servers[0].sends(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Sum: 7\r\n\r\n"
        )
        self.assertEqual(sent[-1].response.trailers, [("X-Sum", "7")])

    def test_cut_off(self) -> None:
        """A body that never came to its end is marked as cut."""
        harness, _, sent = self.asked(POST[:-2])
        harness.servers[0].lose(ConnectionLost())
        self.assertEqual((sent[0].truncated, sent[0].body_size), (True, 0))

    def test_redirect(self) -> None:
        """The request for the target of a redirect is announced as the one that follows it."""
        harness, client, sent = self.asked(GET)
        harness.servers[0].sends(b"HTTP/1.1 302 x\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n")
        client.sends(GET.replace(b"/x", b"/y"))
        reported, following = sent
        self.assertEqual(following.redirected_from_request_id, reported.request_id)

    def test_coded(self) -> None:
        """A body is reported decoded; a long decoding is spread over turns of the reactor."""
        for content, turns in ((b"plain", False), (b"0" * 4_000_000, True)):
            harness, _, sent = self.asked(GET, history=8 << 20)
            self.answer(harness, b"200 OK", gzip.compress(content))
            self.assertEqual(sent == [], turns)
            while not sent:
                harness.core.clock.advance(0.001)
            (reported,) = sent
            self.assertEqual(body.to_bytes(reported.response.body_base64), content)
            self.assertNotIn("content-encoding", reported.response.headers)

    def test_coded_redirect(self) -> None:
        """The report of a redirect does not wait for its body to be decoded."""
        harness, _, sent = self.asked(GET, history=8 << 20)
        coded = gzip.compress(b"0" * 4_000_000)
        self.answer(harness, b"302 Found\r\nLocation: /y", coded)
        (reported,) = sent
        self.assertEqual(body.to_bytes(reported.response.body_base64), coded)

    @staticmethod
    def answer(harness: ForwardProxyHarness, line: bytes, coded: bytes) -> None:
        head = b"HTTP/1.1 %s\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
        harness.servers[0].sends(head % (line, len(coded)) + coded)
