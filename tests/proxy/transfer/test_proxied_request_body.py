"""Bodies of requests that are not decided yet."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.transfer.spying import spied
from trafficmock.proxy.transfer.proxied_request import EARLY_BYTES
from trafficmock.wire.inbound import RequestBody
from trafficmock.wire.payloads import body

CHUNKED = b"POST http://api.test/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def bodies_of(sent: list[Any]) -> list[RequestBody]:
    return [message for message in sent if isinstance(message, RequestBody)]


class BodyTests(SynchronousTestCase):
    """The part that is kept, and the part that is reported."""

    def test_announced(self) -> None:
        """A body that goes with the announcement is not reported again."""
        harness, sent = spied(self)
        harness.worker()
        harness.ask(CHUNKED + chunk(b"whole") + chunk(b""))
        self.assertEqual(body.to_bytes(sent[0].request.body_base64), b"whole")
        self.assertEqual(bodies_of(sent), [])

    def test_early(self) -> None:
        """Until the request is decided a little of its body is read, and no more."""
        harness, sent = spied(self)
        worker = harness.worker("http://other.test/**")
        harness.core.send_message(
            worker,
            "route:register",
            routeId="asked",
            testId="t",
            matcher={"urlGlob": "**", "predicate": True},
            kind="http",
        )
        client = harness.ask(CHUNKED)
        client.sends(chunk(b"x" * EARLY_BYTES))
        self.assertFalse(client.paused)
        client.sends(chunk(b"y"))
        self.assertTrue(client.paused)
        self.assertEqual(bodies_of(sent), [])

    def test_wanted(self) -> None:
        """For a test it is read to its end, and reported once."""
        harness, sent = spied(self)
        harness.worker()
        client = harness.ask(CHUNKED + chunk(b"ab"))
        client.sends(chunk(b"cd") + chunk(b""))
        (reported,) = bodies_of(sent)
        self.assertEqual((reported.body_base64, client.paused), (b"abcd", False))

    def test_too_large(self) -> None:
        """Above the limit of handlers its size is reported, and no more of it is read."""
        harness, sent = spied(self, handler=8)
        harness.worker()
        client = harness.ask(CHUNKED)
        client.sends(chunk(b"123456789"))
        (reported,) = bodies_of(sent)
        self.assertEqual(
            (reported.body_size, reported.truncated, reported.body_base64), (9, True, body.NULL)
        )
        self.assertIn(b"502 Bad Gateway", client.took())
