"""A request without a body, and faults on the way to a door."""

from twisted.trial.unittest import SynchronousTestCase
from twisted.web.resource import Resource
from twisted.web.server import Request

from tests.support.http_client import Service
from trafficmock.http.service_request import Discarded


class Broken(Resource):
    """Fails, before or after it has begun to answer."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, *, begun: bool) -> None:
        super().__init__()
        self.begun = begun

    def render(self, request: Request) -> int:
        if self.begun:
            request.write(b"half")
        raise ZeroDivisionError


class RequestTests(SynchronousTestCase):
    """What every request has in common."""

    def test_discarded(self) -> None:
        """A body is taken and forgotten."""
        body = Discarded()
        self.assertEqual(body.write(b"x" * 1000), 1000)
        self.assertEqual(body.read(), b"")

    def test_fault(self) -> None:
        """A resource that fails is a 500 in the common shape, and logged."""
        service = Service()
        service.site.resource = Broken(begun=False)
        answer = service.ask("/health")
        self.assertEqual((answer.status, answer.json()["error"]), (500, "internal"))
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)

    def test_fault_halfway(self) -> None:
        """One that fails after it has begun is cut off: nobody takes the half for the whole."""
        service = Service()
        service.site.resource = Broken(begun=True)
        connection = service.connect()
        connection.send(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        self.assertTrue(connection.transport.aborted)
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)
