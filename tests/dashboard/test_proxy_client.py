"""What is said of failures: tested through the relay, here that all of them have words."""

from typing import Any, cast

from treq.client import HTTPClient
from twisted.internet.defer import TimeoutError as WaitTimeoutError
from twisted.internet.error import DNSLookupError, TCPTimedOutError
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.client import ResponseNeverReceived

from tests.dashboard.fakes import FakeAgent
from trafficmock.dashboard.proxy_client import ProxyApiClient


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
