"""Parameters of REST, in paths and in queries."""

from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.history.query import Query
from trafficmock.http.responses import RestError
from trafficmock.server.rest.path_segments import decode_segment, is_plain_path
from trafficmock.server.rest.query_parameters import read_list_request, wants_tests

READ = {
    "": Query(),
    "q=&from=&to=&limit=&offset=&testId=&clientId=&action=&fields=": Query(),
    "q=%20Foo+bar%20": Query(q="Foo bar"),
    "q=a;b%26c": Query(q="a;b&c"),
    "q=%ff": Query(q="\ufffd"),
    "from=1700000000000&to=1700000000001.5": Query(from_=1700000000000, to=1700000000001.5),
    "from=1e3&to=-5": Query(from_=1000, to=-5),
    "limit=0&offset=007": Query(limit=0, offset=7),
    "limit=00000000000000000000000000000005": Query(limit=5),
    "limit=99999999999999999999": Query(limit=2**53 - 1),
    "testId=T%2F1&clientId=c&action=fulfill": Query(test_id="T/1", client_id="c", action="fulfill"),
    "limit=2&limit=abc": Query(limit=2),
    "method=POST&status=404": Query(method="POST", status=range(404, 405)),
    "method=&status=": Query(),
    "unowned=true&late=": Query(unowned=True),
    "late=true": Query(late=True),
    "status=5XX": Query(status=range(500, 600)),
    "limit=&limit=5": Query(),
    "unknown=abc&LIMIT=x&%zz=1&&&=": Query(),
}
REFUSED = {
    "limit=abc": "limit",
    "limit=-1": "limit",
    "limit=1.5": "limit",
    "limit=1e1": "limit",
    "limit=0x2": "limit",
    "limit=%D9%A1": "limit",
    "offset=-1": "offset",
    "from=x": "from",
    "from=NaN": "from",
    "to=Infinity": "to",
    "to=1_0": "to",
    "to=" + "9" * 5000: "to",
    "fields=all": "fields",
    "unowned=1": "unowned",
    "late=false": "late",
}


class ParameterTests(SynchronousTestCase):
    """What is asked of a list."""

    def test_read(self) -> None:
        """Empty is absent, the first of a name counts, unknown ones are ignored."""
        for query_string, expected in READ.items():
            self.assertEqual(read_list_request(query_string).query, expected, query_string)

    def test_summary(self) -> None:
        """``fields=summary`` asks for summaries."""
        self.assertTrue(read_list_request("fields=summary").summary)
        self.assertFalse(read_list_request("fields=").summary)

    def test_since(self) -> None:
        """``since`` is taken as it is."""
        self.assertEqual(read_list_request("since=%22a-1%22").since, '"a-1"')
        self.assertIsNone(read_list_request("since=").since)

    def test_tests(self) -> None:
        """``fields=tests`` of the connections is the only value that they know."""
        self.assertEqual((wants_tests("fields=tests"), wants_tests("fields=")), (True, False))
        self.assertIn("tests", self.assertRaises(RestError, wants_tests, "fields=all").message)

    def test_refused(self) -> None:
        """A bad value is a 400 that names the parameter and what is allowed."""
        for query_string, name in REFUSED.items():
            refusal = self.assertRaises(RestError, read_list_request, query_string)
            self.assertEqual((refusal.status, refusal.code), (400, "invalid_parameter"))
            self.assertTrue(refusal.message.startswith(f"{name} must be "), refusal.message)
            self.assertLess(len(refusal.message), 200)

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["q", "from", "to", "limit", "offset", "fields", "testId", "x"]),
                st.one_of(st.text().map(quote), st.text(alphabet="%&=;+0123456789.eE-abf")),
            )
        )
    )
    def test_anything(self, pairs: list[tuple[str, str]]) -> None:
        """Whatever is sent is read or refused with 400, and numbers are in range."""
        try:
            query = read_list_request("&".join(f"{name}={value}" for name, value in pairs)).query
        except RestError as refusal:
            self.assertEqual(refusal.status, 400)
        else:
            self.assertGreaterEqual(query.offset, 0)
            self.assertTrue(query.limit is None or 0 <= query.limit < 2**53)


class SegmentTests(SynchronousTestCase):
    """Ids in paths."""

    def test_escapes(self) -> None:
        """Escapes are undone, a slash among them; a plus is a plus."""
        self.assertEqual(decode_segment("a%2Fb%20c+%C3%A9%25"), "a/b c+é%")

    def test_bad(self) -> None:
        """Half an escape, a wrong one, and what is not UTF-8 name nothing."""
        for raw in ("%", "%2", "a%zz", "%ff", "%C3", "%ED%A0%80"):
            self.assertIsNone(decode_segment(raw), raw)

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_round_trip(self, text: str) -> None:
        """Every text that can be escaped comes back."""
        self.assertEqual(decode_segment(quote(text, safe="")), text)

    @given(st.text(alphabet="%0123456789abcdefABCDEFxyz"))
    def test_anything(self, raw: str) -> None:
        """No escape makes it raise."""
        decode_segment(raw)

    def test_plain_paths(self) -> None:
        """Doubled slashes, bytes that are not ASCII and relative paths are no paths."""
        for path in (b"/", b"/api/history/%ff", b"/a/"):
            self.assertTrue(is_plain_path(path), path)
        for path in (b"", b"*", b"//", b"//health", b"/api//history", b"/\xa0"):
            self.assertFalse(is_plain_path(path), path)
