"""The checks that every root resource makes."""

import json

from twisted.trial.unittest import SynchronousTestCase
from twisted.web.resource import IResource
from twisted.web.test.requesthelper import DummyChannel
from zope.interface.verify import verifyObject

from trafficmock.http.access import AccessPolicy
from trafficmock.http.checked_root import CheckedRoot, check_reader, host_of
from trafficmock.http.responses import RestError
from trafficmock.http.service_request import ServiceRequest


class HostRoot(CheckedRoot):
    """Answers with the host that the client named."""

    def choose(self, request: ServiceRequest) -> bytes:
        return (host_of(request) or "none").encode()


def request(*hosts: bytes, method: bytes = b"GET", version: bytes = b"HTTP/1.1") -> ServiceRequest:
    made = ServiceRequest(DummyChannel(), queued=False)
    made.method, made.clientproto = method, version
    made.requestHeaders.setRawHeaders(b"host", hosts)
    return made


class RootTests(SynchronousTestCase):
    """One resource for all paths."""

    def test_leaf(self) -> None:
        """The root is the resource of every path and takes no children."""
        root = HostRoot()
        verifyObject(IResource, root)
        self.assertIs(root.getChildWithDefault(b"x", request()), root)
        self.assertRaises(NotImplementedError, root.putChild, b"x", root)

    def test_one_host(self) -> None:
        """HTTP/1.1 has exactly one Host; HTTP/1.0 may leave it out."""
        root = HostRoot()
        self.assertEqual(root.render(request(b"a:1")), b"a:1")
        self.assertEqual(root.render(request(version=b"HTTP/1.0")), b"none")
        for hosts in ((), (b"a", b"a")):
            refused = request(*hosts)
            answer = root.render(refused)
            assert isinstance(answer, bytes)
            self.assertEqual((refused.code, json.loads(answer)["error"]), (400, "bad_request"))

    def test_head(self) -> None:
        """HEAD has no body, whatever the answer."""
        for hosts in ((b"a",), ()):
            self.assertEqual(HostRoot().render(request(*hosts, method=b"HEAD")), b"")


class ReaderTests(SynchronousTestCase):
    """Who may read the traffic."""

    def test_others_are_refused(self) -> None:
        """A peer on another machine is refused unless the policy lets it in."""
        error = self.assertRaises(RestError, check_reader, AccessPolicy(), request(b"a"))
        self.assertEqual((error.status, error.code), (403, "history_not_open"))
        check_reader(AccessPolicy(open_history=True), request(b"a"))
