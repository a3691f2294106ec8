"""Messages of WebSockets: their pieces, and what protocol 3 carries of them."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.growth import GrowthMixin
from trafficmock.proxy.websocket.message_pieces import MOST_LOOSE, MessagePieces
from trafficmock.proxy.websocket.socket_messages import content, message_of
from trafficmock.wire.inbound import MessageFromPage, MessageFromServer


def put_together(number: int) -> str:
    pieces = MessagePieces("")
    for _ in range(number):
        pieces.add("a")
    return pieces.take()


class PiecesTests(GrowthMixin, SynchronousTestCase):
    """Text and bytes."""

    @given(st.lists(st.text(max_size=3)), st.lists(st.binary(max_size=3)))
    def test_joined(self, texts: list[str], parts: list[bytes]) -> None:
        """All parts come out in one, once, whatever their number."""
        of_text, of_bytes = MessagePieces(""), MessagePieces(b"")
        for text in texts * 50:
            of_text.add(text)
        for part in parts * 50:
            of_bytes.add(part)
        self.assertEqual(of_text.size, len("".join(texts)) * 50)
        self.assertEqual(of_text.take(), "".join(texts) * 50)
        self.assertEqual(of_bytes.take(), b"".join(parts) * 50)
        self.assertEqual((of_text.take(), of_text.size), ("", 0))

    def test_forgotten(self) -> None:
        """What is forgotten is counted all the same."""
        pieces = MessagePieces(b"")
        pieces.add(b"abc")
        pieces.clear()
        pieces.add(b"d")
        self.assertEqual((pieces.size, pieces.take()), (4, b"d"))

    def test_linear(self) -> None:
        """Many parts take time in proportion to their number."""
        self.assert_linear(int, put_together, 50_000)

    def test_memory(self) -> None:
        """Parts of one byte take little more than their bytes, empty ones nothing."""
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        pieces = MessagePieces(b"")
        for number in range(200 * MOST_LOOSE):
            pieces.add(bytes([number % 256]))
            pieces.add(b"")
        used, _ = tracemalloc.get_traced_memory()
        self.assertLess(used, 2 * pieces.size)


class MessageTests(SynchronousTestCase):
    """Both directions."""

    @given(st.text() | st.binary())
    def test_round(self, data: str | bytes) -> None:
        """Text and bytes come out as they went in."""
        for kind in (MessageFromPage, MessageFromServer):
            self.assertEqual(content(message_of(kind, "s", data)), data)

    @given(st.text())
    def test_no_base64(self, text: str) -> None:
        """What is no base64 is nothing, or less; it never raises."""
        self.assertIsInstance(content(MessageFromPage("s", text, is_base64=True)), bytes)
        self.assertEqual(content(MessageFromPage("s", "é", is_base64=True)), b"")
