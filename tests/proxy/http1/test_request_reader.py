"""The requests in what a client sends."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1 import framing
from trafficmock.proxy.http1.request_reader import RequestReader

STREAM = (
    b"\r\nPOST /1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
    b"POST /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nwo\r\n3\r\nrld\r\n0\r\n\r\n"
)


class RequestReaderTests(SynchronousTestCase):
    """Heads and bodies in turn."""

    @given(st.lists(st.integers(0, len(STREAM)), max_size=8))
    def test_any_pieces(self, cuts: list[int]) -> None:
        """However the bytes are cut, the same requests come out."""
        places = [0, *sorted(cuts), len(STREAM)]
        reader = RequestReader(1000)
        found: list[tuple[bytes, bytes]] = []
        for begin, end in itertools.pairwise(places):
            reader.received(STREAM[begin:end])
            while self._go_on(reader, found):
                pass
        self.assertEqual(found, [(b"/1", b"hello"), (b"/2", b"world")])
        self.assertEqual(reader.take(), b"")

    def _go_on(self, reader: RequestReader, found: list[tuple[bytes, bytes]]) -> bool:
        if not reader.body_complete:
            content = reader.body()
        else:
            request = reader.head()
            if request is None:
                return False
            found.append((request[0].target, b""))
            content = reader.begin_body(framing.of_request(request[0]))
        found[-1] = found[-1][0], found[-1][1] + content
        return reader.body_complete

    def test_for_another(self) -> None:
        """What is not read is given once."""
        reader = RequestReader(1000)
        reader.received(b"GET / HTTP/1.1\r\n\r\nrest")
        self.assertIsNotNone(reader.head())
        self.assertEqual([reader.take(), reader.take()], [b"rest", b""])
