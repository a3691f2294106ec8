"""Bodies and requests in what a client sends."""

import itertools
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1 import framing
from trafficmock.proxy.http1.body_readers import BodyReader, ChunkReader, reader
from trafficmock.proxy.http1.forwarded_headers import last_chunk
from trafficmock.proxy.http1.framing import BodyKind, Framing
from trafficmock.proxy.http1.heads import BadMessageError, Pairs
from trafficmock.proxy.http1.request_reader import RequestReader


def feed(taken_by: BodyReader, pieces: list[bytes]) -> tuple[bytes, bytes]:
    """Feed pieces; give the content, and what lay behind the end."""
    content, rest = b"", b""
    for piece in pieces:
        if taken_by.done:
            rest += piece
        else:
            got, behind = taken_by.feed(piece)
            content, rest = content + got, rest + behind
    return content, rest


def cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(marks)]


class ReaderTests(SynchronousTestCase):
    """All framings."""

    def test_none(self) -> None:
        """No body is over before it begins."""
        self.assertTrue(reader(framing.NONE).done)

    def test_until_close(self) -> None:
        """A body without a length takes everything."""
        everything = reader(framing.UNTIL_CLOSE)
        self.assertEqual(everything.feed(b"abc"), (b"abc", b""))
        self.assertFalse(everything.done)

    @given(st.binary(max_size=50), st.binary(max_size=20), st.lists(st.integers(0, 99)))
    def test_length(self, content: bytes, rest: bytes, places: list[int]) -> None:
        """A length is counted down, however the bytes arrive."""
        taken_by = reader(Framing(BodyKind.LENGTH, len(content)))
        self.assertEqual(feed(taken_by, cut(content + rest, places)), (content, rest))
        self.assertTrue(taken_by.done)


class ChunkTests(SynchronousTestCase):
    """The chunked coding (RFC 9112 section 7.1)."""

    @given(
        st.lists(st.binary(min_size=1, max_size=20), max_size=5),
        st.sampled_from([[], [(b"A", b"b")], [(b"A", b"b"), (b"C", b"d")]]),
        st.sampled_from([b"", b";a", b"; a=b", b';a="b;c";d']),
        st.lists(st.integers(0, 200)),
    )
    def test_any_cut(
        self, chunks: list[bytes], trailers: Pairs, extension: bytes, places: list[int]
    ) -> None:
        """Chunks are joined, however the bytes arrive; extensions are dropped, trailers kept."""
        coded = b"".join(b"%X%s\r\n%s\r\n" % (len(c), extension, c) for c in chunks)
        coded += last_chunk(trailers)
        taken_by = ChunkReader()
        got = feed(taken_by, cut(coded + b"GET", places))
        self.assertEqual(got, (b"".join(chunks), b"GET"))
        self.assertEqual(taken_by.trailers, trailers)
        self.assertTrue(taken_by.done)

    def test_space(self) -> None:
        """White space behind a size, as servers pad it, is no part of it."""
        padded = [b"2  \r\nok\r\n0;a \r\n\r\n"]
        self.assertEqual(feed(ChunkReader(of_server=True), padded), (b"ok", b""))
        self.assertRaises(BadMessageError, feed, ChunkReader(), padded)

    def test_refused(self) -> None:
        """A size that two readers could read differently is refused, as is a wrong one."""
        for coded in (
            b"\r\n",
            b"g\r\n",
            b"-1\r\n",
            b"+1\r\n",
            b"0x1\r\n",
            b" 1\r\n",
            b"1 1\r\n",
            b"1\n",
            b"1\ra\r\n",
            b"1;\r\n",
            b"1;a=\x01\r\n",
            b'1;a="\r\n',
            b"f" * 16 + b"\r\n",
            b"1" * 2000,
            b"2\r\nabc\r\n",
            b"2\r\na\r\n\r\n",
            b"1\r\na\n",
            b"0\r\nA b\r\n\r\n",
            b"0\r\n A: b\r\n\r\n",
            b"0\r\nA: b\nC: d\r\n\r\n",
        ):
            with self.assertRaises(BadMessageError, msg=coded):
                feed(ChunkReader(), [coded])

    def test_endless_trailers(self) -> None:
        """Trailers have a limit."""
        with self.assertRaises(BadMessageError):
            feed(ChunkReader(), [b"0\r\n"] + [b"a: b\r\n" * 1000] * 4)

    @given(st.text(alphabet='0123aAfF;="\r\n :x', max_size=30).map(str.encode))
    def test_any_input(self, data: bytes) -> None:
        """Nothing but a BadMessageError is raised."""
        try:
            feed(ChunkReader(), [data])
        except BadMessageError:
            return


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
