"""Where redirects lead."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.wire.payloads.serialized_response import becomes_get, redirect_target


class RedirectTargetTests(SynchronousTestCase):
    """The URL that a client asks for after a redirect."""

    def test_resolved(self) -> None:
        """It is relative to the URL that answered, and has no fragment."""
        for location, url in (
            ("/y", "http://a.test/y"),
            ("../z#f", "http://a.test/z"),
            ("//b.test", "http://b.test/"),
            ("http://[", None),
        ):
            self.assertEqual(redirect_target("http://a.test/x/y", location), url)

    def test_method(self) -> None:
        """A moved POST and what is seen elsewhere are asked by GET, the rest as before."""
        asked = [
            (status, method)
            for status in (301, 302, 303, 307, 308)
            for method in ("GET", "HEAD", "POST", "PUT")
            if becomes_get(status, method)
        ]
        self.assertEqual(asked, [(301, "POST"), (302, "POST"), (303, "POST"), (303, "PUT")])

    @given(st.binary(max_size=30))
    def test_any_input(self, location: bytes) -> None:
        """No ``Location`` raises anything."""
        redirect_target("http://a.test/", location.decode("latin-1"))
