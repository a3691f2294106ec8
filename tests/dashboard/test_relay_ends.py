"""Ends and failures of what is relayed."""

from typing import Any, cast

from treq.client import HTTPClient
from twisted.internet.defer import TimeoutError as WaitTimeoutError
from twisted.internet.error import DNSLookupError, TCPTimedOutError
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.client import ResponseNeverReceived

from tests.dashboard.fakes import FakeAgent
from trafficmock.dashboard.body_relay import BodyRelay
from trafficmock.dashboard.proxy_client import ProxyApiClient


class Page:
    """Takes a body."""

    def __init__(self) -> None:
        self.written = b""
        self.producer: Any = None
        self.finished = 0

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: FBT001 - Twisted's
        assert streaming
        self.producer = producer

    def unregisterProducer(self) -> None:
        self.producer = None

    def write(self, data: bytes) -> None:
        self.written += data

    def finish(self) -> None:
        self.finished += 1


class BodyTests(SynchronousTestCase):
    """The end of a body."""

    def test_given_up(self) -> None:
        """Cancelled, it leaves neither a timer nor a page that is answered twice."""
        page, clock = Page(), Clock()
        body = BodyRelay(cast("Any", page), clock)
        body.makeConnection(StringTransport())
        body.done.addErrback(lambda _: None)
        body.done.cancel()
        body.connectionLost()
        self.assertEqual((page.finished, clock.getDelayedCalls()), (0, []))


class ExplainTests(SynchronousTestCase):
    """Codes of failures."""

    def test_codes(self) -> None:
        """Each way of being away has its code; anything else is our own fault."""
        upstream = ProxyApiClient(
            client=HTTPClient(cast("Any", FakeAgent())),
            proxy_url="http://h:1",
            clock=cast("Any", Clock()),
        )
        for error, code in [
            (DNSLookupError(), "proxy_unavailable"),
            (TCPTimedOutError(), "proxy_unavailable"),
            (ResponseNeverReceived([]), "proxy_unavailable"),
            (WaitTimeoutError(), "proxy_timeout"),
            (ZeroDivisionError(), "internal"),
        ]:
            self.assertEqual(upstream.explain(Failure(error)).code, code)
