"""Mocks that handlers give, as responses."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from tests.testing.fakes import request, response
from trafficmock.core.answers.response_rules import sendable_response
from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.handlers.mock_response import File, Mock, build
from trafficmock.testing.session.observation.request_state import ResponseState
from trafficmock.testing.session.observation.traffic import ObservedTraffic
from trafficmock.wire.outbound import RequestObserved


class MockTests(SynchronousTestCase):
    """The response that ``fulfill`` makes from its arguments."""

    def test_statuses(self) -> None:
        """0 is 200; what is no status is refused."""
        self.assertEqual(build(Mock(status=0), "u").status, 200)
        for wrong in (1000, -1, 2.5, 100, 199):
            with self.assertRaises(UsageError):
                build(Mock(status=wrong), "u")  # type: ignore[arg-type] # that is the point

    def test_status_texts(self) -> None:
        """The text is the one given, else the response's with its status, else the status's."""
        state = ObservedTraffic().observe(RequestObserved("r1", request(), "app"))
        for text in ("Fine", ""):
            wire = structs.replace(response(), status_text=text)
            given = ResponseState(state, wire)
            self.assertEqual(build(Mock(response=given), "u").status_text, text or "OK")
            self.assertEqual(build(Mock(response=given, status=200), "u").status_text, text or "OK")
            self.assertEqual(build(Mock(response=given, status=404), "u").status_text, "Not Found")
            mock = Mock(response=given, status_text="So")
            self.assertEqual(build(mock, "u").status_text, "So")
        self.assertEqual(build(Mock(status=418), "u").status_text, "I'm a Teapot")
        self.assertEqual(build(Mock(status=299), "u").status_text, "")
        self.assertEqual(build(Mock(status_text="Très\tbien"), "u").status_text, "Très\tbien")

    @profile(100)
    @given(st.text(max_size=3) | st.binary(max_size=2) | st.integers())
    def test_any_status_text(self, text: Any) -> None:
        """What no status line can carry is refused; what is taken can be sent."""
        try:
            made = build(Mock(status_text=text), "u")
        except UsageError as error:
            self.assertIn("status_text must be text without control characters", str(error))
        else:
            self.assertIs(sendable_response(made), made)

    def test_lengths(self) -> None:
        """An explicit content-length is kept even if it is wrong."""
        made = build(Mock(headers={"Content-Length": "99"}, body="ab"), "u")
        self.assertEqual(made.headers, {"content-length": "99"})

    def test_repeats(self) -> None:
        """Repeated headers are sent in full beside the map."""
        made = build(Mock(headers=[("set-cookie", "a=1"), ("Set-Cookie", "b=2")]), "u")
        self.assertEqual(made.headers_list, [("set-cookie", "a=1"), ("set-cookie", "b=2")])

    def test_files(self) -> None:
        """Files of unknown kind are bytes."""
        made = build(Mock(file=File("x.unknown-kind", b"x")), "u")
        self.assertEqual(made.headers["content-type"], "application/octet-stream")
