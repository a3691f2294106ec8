"""What an inbound request says of its test."""

from hypothesis import given
from hypothesis import strategies as st
from trafficmock_preload.entries.context_reading import LONGEST_LIST, carried, is_id, trace_id
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1 import context_headers
from trafficmock.proxy.http1.heads import parse_request

ID = "0123456789abcdef" * 2
VALUES = st.text(alphabet="trafficmock.test_=;, -0a1f", max_size=80)


class ReadingTests(SynchronousTestCase):
    """Baggage, cookie and trace."""

    def test_baggage(self) -> None:
        """The first member of that name counts, with properties and white space around it."""
        for text in (
            f"trafficmock.test={ID}",
            f"a=b , trafficmock.test = {ID} ;p=1,trafficmock.test=other",
        ):
            self.assertEqual(carried(text, None), ID, text)

    def test_cookie(self) -> None:
        """A cookie counts where the baggage says nothing that may be an id."""
        self.assertEqual(carried(None, f"a=b; trafficmock_test={ID}; c=d"), ID)
        self.assertEqual(carried("trafficmock.test=b", f"trafficmock_test={ID}"), "b")
        self.assertEqual(carried("trafficmock.test=b/b", f"trafficmock_test={ID}"), ID)

    def test_none(self) -> None:
        """What is malformed counts as absent."""
        for value in ("", "a b", "\u0660", "a" * 65, "0" * 32):
            self.assertFalse(is_id(value), value)
            self.assertIsNone(carried(f"trafficmock.test={value}", None), value)

    def test_long(self) -> None:
        """A member that is cut off by the limit is not read."""
        text = "a=" + "x" * (LONGEST_LIST - 25) + f",trafficmock.test={ID}"
        self.assertIsNone(carried(text, None))

    def test_trace(self) -> None:
        """The id of a valid trace counts."""
        span = "b7ad6b7169203331"
        self.assertEqual(trace_id(f"00-{ID}-{span}-01"), ID)
        self.assertEqual(trace_id(f"cc-{ID}-{span}-01-more"), ID)
        for text in (
            f"00-{ID}-{span}-01-more",
            f"ff-{ID}-{span}-01",
            f"00-{ID.upper()}-{span}-01",
            f"00-{'0' * 32}-{span}-01",
            f"00-{ID}-{span}",
            "",
        ):
            self.assertIsNone(trace_id(text), text)

    @given(VALUES, VALUES)
    def test_as_the_proxy(self, baggage: str, cookie: str) -> None:
        """The proxy reads the same request in the same way."""
        head = parse_request(
            f"GET / HTTP/1.1\r\nbaggage: {baggage.strip()}\r\ncookie: {cookie.strip()}".encode()
        )
        found = context_headers.carried_context(head)
        mine = carried(baggage.strip(), cookie.strip())
        self.assertEqual(mine, None if found is None else found.decode())
