"""Bodies on their way: tested through the relay, here the corners of its end."""

from typing import Any, cast

from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.dashboard.body_relay import BodyRelay


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
