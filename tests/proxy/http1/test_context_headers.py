"""The context of a test on a request."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.growth import GrowthMixin
from trafficmock.proxy.http1.context_headers import (
    LONGEST_LIST,
    carried_context,
    context_id,
    ids_in,
    may_carry,
    trace_id,
    with_context,
    without_context,
)
from trafficmock.proxy.http1.heads import Pairs, RequestHead, parse_request

TRACE = "0af7651916cd43dd8448eb211c80319c"
IDS = st.from_regex(r"\A[A-Za-z0-9._-]{1,64}\Z").map(str.encode)
PARTS = st.sampled_from(
    [
        b"",
        b"=",
        b"a=b",
        b"trafficmock.test=A",
        b" trafficmock.test = C;p=1 ",
        b"trafficmock.test",
        b"trafficmock.test=\xff",
        b"trafficmock.tests=D",
        b"trafficmock_test=B",
        b"trafficmock_test=;x",
    ]
)
LINES = st.lists(
    st.tuples(
        st.sampled_from([b"Baggage", b"baggage", b"Cookie", b"X"]),
        st.tuples(st.sampled_from([b",", b";", b" , "]), st.lists(PARTS, max_size=4)).map(
            lambda parts: parts[0].join(parts[1])
        ),
    ),
    max_size=5,
)


def head(*lines: str) -> RequestHead:
    return parse_request("\r\n".join(["GET / HTTP/1.1", *lines]).encode())


def head_of(pairs: Pairs) -> RequestHead:
    return parse_request(b"\r\n".join([b"GET / HTTP/1.1", *(b": ".join(pair) for pair in pairs)]))


class ReadingTests(SynchronousTestCase):
    """What a request carries."""

    def test_carriers(self) -> None:
        """The member of baggage, else the cookie, else the trace."""
        for lines, context in (
            (["Baggage: trafficmock.test=A"], "A"),
            (["baggage: x=1 , trafficmock.test = A ; p=q, y=2"], "A"),
            (["baggage: x=1", "BAGGAGE: trafficmock.test=A"], "A"),
            (["Cookie: a=b; trafficmock_test=B; c=d"], "B"),
            (["Cookie: a=b", "Cookie: trafficmock_test=B"], "B"),
            (["Cookie: trafficmock_test=B", "Baggage: trafficmock.test=A"], "A"),
            ([f"Traceparent: 00-{TRACE}-b7ad6b7169203331-01"], TRACE),
            ([f"traceparent: 00-{TRACE}-b7ad6b7169203331-01", "cookie: trafficmock_test=B"], "B"),
            (["Baggage: x=1", "Cookie: a=b"], None),
            ([], None),
        ):
            self.assertEqual(context_id(head(*lines)), context, lines)

    def test_first(self) -> None:
        """The first of several counts; one that is malformed leaves it to the next carrier."""
        self.assertEqual(context_id(head("baggage: trafficmock.test=A,trafficmock.test=B")), "A")
        cookie = "cookie: trafficmock_test=B"
        for value in ("", "a b", "é", "x" * 65, "a%20b", '"A"', "A=", "../A/", "0" * 32):
            lines = f"baggage: trafficmock.test={value},trafficmock.test=A", cookie
            self.assertEqual(context_id(head(*lines)), "B", value)

    def test_other_names(self) -> None:
        """Names are whole, and their case counts."""
        for line in (
            "baggage: trafficmock.tests=A",
            "baggage: x.trafficmock.test=A",
            "baggage: Trafficmock.test=A",
            "baggage: x=trafficmock.test=A",
            "baggage: x=1;trafficmock.test=A",
            "baggage: trafficmock_test=A",
            "cookie: trafficmock.test=A",
            "cookie: a=b, trafficmock_test=A",
            "x: trafficmock.test=A",
        ):
            self.assertIsNone(context_id(head(line)), line)

    def test_trace(self) -> None:
        """A trace id is that of a valid traceparent; later versions may say more."""
        span = "b7ad6b7169203331"
        for value, valid in (
            (f"00-{TRACE}-{span}-01", True),
            (f"cc-{TRACE}-{span}-01-more", True),
            (f"cc-{TRACE}-{span}-01", True),
            (f"00-{TRACE}-{span}-01-more", False),
            (f"ff-{TRACE}-{span}-01", False),
            (f"00-{'0' * 32}-{span}-01", False),
            (f"00-{TRACE.upper()}-{span}-01", False),
            (f"00-{TRACE}-{span}", False),
            ("", False),
        ):
            found = trace_id(head(f"traceparent: {value}"))
            self.assertEqual(found, TRACE.encode() if valid else None, value)
        twice = [f"traceparent: 00-{TRACE}-{span}-01"] * 2
        self.assertIsNone(trace_id(head(*twice)))

    def test_far_behind(self) -> None:
        """What stands behind the first 8 KiB is not looked for; no id is cut to another one."""
        long = "x=" + "y" * (LONGEST_LIST - 100) + ",trafficmock.test="
        room = LONGEST_LIST - len(long)
        self.assertEqual(carried_context(head(f"baggage: {long}A")), b"A")
        self.assertIsNone(carried_context(head(f"baggage: {long}{' ' * room}A")))
        padded = "x=" + "y" * (LONGEST_LIST - 20 - 2) + ",trafficmock.test=ABCD"
        self.assertIsNone(carried_context(head(f"baggage: {padded}")))
        self.assertIsNone(carried_context(head("baggage: " + "x," * 5000, "baggage: " + MINE)))


MINE = "trafficmock.test=A"


class TakingOutTests(GrowthMixin, SynchronousTestCase):
    """What others must not see."""

    def test_taken_out(self) -> None:
        """Only our parts go, and a header that has nothing else."""
        for name, value, kept in (
            (b"Baggage", b"a=b,trafficmock.test=A;p=1,c=d;q", b"a=b,c=d;q"),
            (b"baggage", b"trafficmock.test=A, a=b", b"a=b"),
            (b"baggage", b"trafficmock.test=A , trafficmock.test=", None),
            (b"Cookie", b"a=b; trafficmock_test=A; c=d", b"a=b; c=d"),
            (b"Cookie", b"trafficmock_test=A; c=d", b"c=d"),
            (b"Cookie", b"trafficmock_test=A;", None),
            (b"baggage", b"trafficmock.tests=A", b"trafficmock.tests=A"),
            (b"x-other", b"trafficmock.test=A", b"trafficmock.test=A"),
        ):
            left = [] if kept is None else [(name, kept)]
            self.assertEqual(without_context([(b"A", b"b"), (name, value)]), [(b"A", b"b"), *left])

    def test_untouched(self) -> None:
        """Where there is nothing of ours the very same list is given back."""
        pairs = [(b"baggage", b"a=b"), (b"Cookie", b"c=d")]
        self.assertIs(without_context(pairs), pairs)

    def test_put_in(self) -> None:
        """It is the first member, and the only one of ours."""
        self.assertEqual(with_context([], b"A"), [(b"baggage", b"trafficmock.test=A")])
        pairs = [(b"X", b"y"), (b"Baggage", b"a=b, trafficmock.test=B"), (b"baggage", b"c=d")]
        self.assertEqual(
            with_context(pairs, b"A"),
            [(b"X", b"y"), (b"Baggage", b"trafficmock.test=A,a=b"), (b"baggage", b"c=d")],
        )

    @given(LINES, IDS)
    def test_any_lines(self, pairs: Pairs, context: bytes) -> None:
        """Whatever the lines are, what is taken out is gone, and what is put in is found."""
        taken = without_context(pairs)
        if not may_carry(pairs):
            self.assertEqual((taken, ids_in(pairs)), (pairs, set()))
        self.assertTrue(may_carry(with_context(taken, context)))
        self.assertIsNone(carried_context(head_of(taken)))
        self.assertEqual(without_context(taken), taken)
        self.assertEqual(carried_context(head_of(with_context(taken, context))), context)
        for name, value in taken:
            separator, ours = ((b",", b"trafficmock.test"), (b";", b"trafficmock_test"))[
                name.lower() == b"cookie"
            ]
            names = [part.partition(b"=")[0].strip() for part in value.split(separator)]
            self.assertTrue(name == b"X" or ours not in names)

    @given(st.binary(max_size=200), st.binary(max_size=200))
    def test_any_bytes(self, baggage: bytes, cookie: bytes) -> None:
        """No bytes raise."""
        pairs = [(b"baggage", baggage), (b"cookie", cookie), (b"traceparent", cookie)]
        without_context(pairs)
        fields = dict(pairs)
        found = context_id(RequestHead(1, pairs, fields, b"GET", b"/"))
        self.assertTrue(found is None or 0 < len(found) <= 64)

    def test_linear(self) -> None:
        """The work is in proportion to the header, which others write."""
        self.assert_linear(
            lambda n: [(b"baggage", b"trafficmock.test=A,x," * n)], without_context, 3_000
        )
