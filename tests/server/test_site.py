"""The site: connections in number, and no cost for logs."""

import re

from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import Service
from trafficmock.http.http_limits import HttpLimits

GOOD = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"


class SiteTests(SynchronousTestCase):
    """Many connections, many requests."""

    def test_too_many(self) -> None:
        """One connection too many gets a 503 and is closed; the others go on."""
        service = Service(limits=HttpLimits(max_connections=2))
        first, _ = service.connect(), service.connect()
        third = service.connect()
        answer = third.take()
        self.assertEqual((answer.status, answer.json()["error"]), (503, "too_many_connections"))
        self.assertTrue(third.transport.disconnecting)
        third.lose()
        self.assertEqual(service.site.connections.open, 2)
        first.send(GOOD)
        self.assertEqual(first.take().status, 200)
        first.lose()
        fourth = service.connect()
        fourth.send(GOOD)
        self.assertEqual(fourth.take().status, 200)

    def test_no_access_log(self) -> None:
        """Requests are not logged, and no clock runs for a log."""
        service = Service()
        service.site.startFactory()
        self.assertEqual(service.clock.getDelayedCalls(), [])
        with capturedLogs() as events:
            self.assertEqual(service.ask("/health").status, 200)
        self.assertEqual(events, [])
        service.site.stopFactory()

    def test_keep_alive(self) -> None:
        """A connection serves request after request, pipelined ones in order."""
        service = Service()
        connection = service.connect()
        connection.send(GOOD * 3 + b"GET /ws HTTP/1.1\r\nhost: localhost\r\n\r\n")
        data = connection.transport.value()
        statuses = re.findall(rb"HTTP/1.1 ([0-9]+)", data)
        self.assertEqual(statuses, [b"200", b"200", b"200", b"426"])

    def test_nothing_left(self) -> None:
        """A connection that is lost leaves no timer and is not counted."""
        service = Service()
        connection = service.connect()
        connection.send(GOOD)
        connection.lose()
        self.assertEqual(service.clock.getDelayedCalls(), [])
        self.assertEqual(service.site.connections.open, 0)
