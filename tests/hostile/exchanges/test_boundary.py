"""However a stream is cut or damaged, it means one thing."""

from collections.abc import Callable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.hostile.exchanges.boundary import filled, outcome_of, second_opinion
from tests.hostile.exchanges.cases import THROUGH_PROXY
from tests.support.hypothesis_profiles import profile

_STREAMS = [
    filled(case.sent)
    for cases in THROUGH_PROXY.values()
    for case in cases
    if case.reply is None and len(case.sent) < 3000
]
_streams = st.sampled_from(_STREAMS)
_cuts = st.lists(st.integers(min_value=1, max_value=300), max_size=12)
_ODD = [
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\0",
    b" ",
    b"\t",
    b":",
    b",",
    b";",
    b"0",
    b"1",
    b"\xff",
]
_ASK = b"GET http://api.test/%s HTTP/1.1\r\nHost: api.test\r\n\r\n"
_ODD += [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1", b"GET "]


@st.composite
def _damaged(draw: Callable[..., Any]) -> bytes:
    """Take one or two streams, and change a few places."""
    data: bytes = draw(_streams) + draw(st.sampled_from([b"", *_STREAMS]))
    for _ in range(draw(st.integers(min_value=1, max_value=3))):
        at = draw(st.integers(min_value=0, max_value=len(data)))
        length = draw(st.integers(min_value=0, max_value=4))
        data = data[:at] + draw(st.sampled_from([b"", *_ODD])) + data[at + length :]
    return data


class SplitTests(SynchronousTestCase):
    """Where packets end is no matter."""

    @profile(150)
    @given(_streams, _cuts)
    def test_any_split(self, data: bytes, cuts: list[int]) -> None:
        """A stream in any pieces gets the same answers, and the server sees the same requests."""
        self.assertEqual(outcome_of(data, cuts), outcome_of(data, []))

    def test_byte_by_byte(self) -> None:
        """The same holds for single bytes, and what is whole is really answered."""
        for data in _STREAMS[::12]:
            self.assertEqual(outcome_of(data, range(len(data))), outcome_of(data, []), data)
        self.assertEqual(outcome_of(_STREAMS[0], []).answers, (200,))


class DamageTests(SynchronousTestCase):
    """What is damaged is refused, or read as others read it."""

    @profile(300)
    @given(_damaged(), _cuts)
    @example(b"\r\n".join([_ASK % b"1", b"", _ASK % b"2"]), [])
    def test_one_meaning(self, data: bytes, cuts: list[int]) -> None:
        """Nothing is raised, and what is forwarded is what a second reader sees there."""
        outcome = outcome_of(data, cuts)
        if b"CONNECT" in data:
            return
        opinion = second_opinion(data)[: len(outcome.seen)]
        self.assertEqual([body for *_, body in outcome.seen], [body for *_, body in opinion], data)
        self.assertEqual([method for method, *_ in outcome.seen], [one[0] for one in opinion], data)
