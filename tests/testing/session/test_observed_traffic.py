"""What a test remembers of its traffic, how long it waits, and how differences are told."""

from datetime import timedelta

from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import URL, request, response
from trafficmock.testing.errors import UsageError
from trafficmock.testing.objects.blocking.request import Request
from trafficmock.testing.objects.blocking.response import Response
from trafficmock.testing.session.observation.request_state import ResponseState
from trafficmock.testing.session.observation.traffic import ObservedTraffic
from trafficmock.testing.session.observation.waiting import milliseconds
from trafficmock.testing.session.ports import Adapter
from trafficmock.wire.changed_request import changed_request
from trafficmock.wire.outbound import RequestObserved
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides


class TrafficTests(SynchronousTestCase):
    """Redirects are linked whichever message comes first."""

    def test_either_order(self) -> None:
        """The next request of the same client to the resolved Location is the hop."""
        for hop_first in (False, True):
            traffic = ObservedTraffic()
            first = traffic.observe(RequestObserved("r1", request("http://h.test/x/a"), "app"))
            if not hop_first:
                traffic.respond(first, response(302, location="../b#part"))
            traffic.observe(RequestObserved("r0", request("http://h.test/b"), "another"))
            second = traffic.observe(RequestObserved("r2", request("http://h.test/b"), "app"))
            if hop_first:
                traffic.respond(first, response(302, location="../b#part"))
            self.assertIs(first.redirected_to, second)
            self.assertIs(second.redirected_from, first)
            self.assertIsNone(traffic.requests["r0"].redirected_from)

    def test_cut_body(self) -> None:
        """A body that the proxy did not keep whole cannot be read as if it were empty."""
        traffic = ObservedTraffic()
        state = traffic.observe(RequestObserved("r1", request(), "app"))
        traffic.respond(state, structs.replace(response(), truncated=True))
        answer = state.existing()
        assert answer is not None
        with self.assertRaisesRegex(UsageError, "--history-body-bytes"):
            answer.read()
        cut = structs.replace(request(), truncated=True)
        state = traffic.observe(RequestObserved("r2", cut, "app"))
        seen = Request(state, Adapter())
        for read in ("post_data", "post_data_buffer", "post_data_json"):
            with self.assertRaisesRegex(UsageError, f"the body of GET {URL} whole"):
                getattr(seen, read)
        changes = SerializedOverrides(body_base64=body.from_bytes(b"changed"))
        state.current = changed_request(state.wire, changes)
        self.assertEqual(seen.post_data, "changed")

    def test_repeated_headers(self) -> None:
        """The values of a header that repeats are listed apart, whatever the name's case."""
        pairs = [("Set-Cookie", "a=1"), ("set-cookie", "b=2, c"), ("x-a", "1")]
        state = ObservedTraffic().observe(RequestObserved("r1", request(), "app"))
        wire = structs.replace(response(), headers_list=pairs)
        seen = Response(ResponseState(state, wire), Adapter())
        self.assertEqual(seen.header_values("SET-COOKIE"), ["a=1", "b=2, c"])
        self.assertEqual(seen.header_values("x-none"), [])

    def test_same_request_once(self) -> None:
        """A request that is announced twice is one, and its first answer stays."""
        traffic = ObservedTraffic()
        state = traffic.observe(RequestObserved("r1", request(), "app"))
        self.assertIs(traffic.observe(RequestObserved("r1", request(), "app")), state)
        for status in (201, 202):
            traffic.respond(state, response(status))
            answer = state.existing()
            assert answer is not None
            self.assertEqual(answer.wire.status, 201)


class TimeoutTests(SynchronousTestCase):
    """How long calls may wait."""

    def test_kinds(self) -> None:
        """Milliseconds are as given, durations are converted, ``None`` is 30 s, 0 stays 0."""
        read = [milliseconds(each) for each in (250, timedelta(seconds=1.5), None, 0)]
        self.assertEqual(read, [250, 1500, 30_000, 0])
