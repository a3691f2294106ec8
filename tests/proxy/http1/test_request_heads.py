"""Heads of requests taken off a stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.proxy.http1.request_heads import take_request_head

HEAD = b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
LIMIT = len(HEAD) - 4


class TakeTests(SynchronousTestCase):
    """A head, and what lies behind it."""

    def test_pieces(self) -> None:
        """Until the empty line there is none; what follows is left."""
        for size in range(len(HEAD)):
            self.assertEqual(take_request_head(HEAD[:size], LIMIT), (None, HEAD[:size]))
        head, behind = take_request_head(HEAD + b"body", LIMIT)
        assert head is not None
        self.assertEqual((head.target, behind), (b"/x", b"body"))

    def test_too_long(self) -> None:
        """One byte above the limit is 431, complete or not."""
        for given_ in (HEAD, HEAD + b"body", b"x" * (LIMIT + 3)):
            error = self.assertRaises(BadMessageError, take_request_head, given_, LIMIT - 1)
            self.assertEqual(error.status, 431)

    def test_bare_line_ends(self) -> None:
        """A head with LF alone is refused at once: its end would be waited for."""
        for given_ in (HEAD.replace(b"\r", b""), b"GET / HTTP/1.1\n\r\n"):
            error = self.assertRaises(BadMessageError, take_request_head, given_, 1000)
            self.assertEqual(error.status, 400)

    @given(st.lists(st.sampled_from([b"GET", b" /", b"\r\n", b"\n", b"A: b", b"\0"]), max_size=12))
    def test_anything(self, parts: list[bytes]) -> None:
        """Nothing but a refusal is raised, and no byte is lost."""
        data = b"".join(parts)
        try:
            head, behind = take_request_head(data, 30)
        except BadMessageError:
            return
        self.assertTrue(data.endswith(behind))
        self.assertEqual(head is None, behind == data)
