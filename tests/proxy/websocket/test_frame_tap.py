"""What is heard of WebSockets that are passed through."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase
from wsproto.connection import CLIENT, SERVER, Connection
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage
from wsproto.extensions import PerMessageDeflate

from tests.support.growth import GrowthMixin
from trafficmock.proxy.websocket.frame_tap import LONGEST_BYTES, FrameRecorder, agreed
from trafficmock.records import SocketActivity, SocketClosed


class Pair:
    """Two sides, and a listener at what each says."""

    def __init__(self, chosen: bytes = b"") -> None:
        self.records: list[Any] = []
        self.sides, self.listeners = [], []
        for role, page in ((CLIENT, True), (SERVER, False)):
            own, recorded = agreed(chosen), agreed(chosen)
            assert own is not None
            assert recorded is not None
            self.sides.append(Connection(role, extensions=own))
            listener = FrameRecorder(
                "s", page=page, extensions=recorded, record=self.records.append
            )
            self.listeners.append(listener)

    def feed(self, side: int, event: Any, size: int = 1 << 30) -> None:
        data = self.sides[side].send(event)
        for at in range(0, len(data), size):
            self.listeners[side].data_received(data[at : at + size])

    def frames(self) -> list[tuple[str, str | None, bool | None]]:
        return [(each.direction, each.data, each.is_base64) for each in self.records]


class ListenerTests(SynchronousTestCase):
    """Frames and closes of both sides."""

    def test_frames(self) -> None:
        """Text as it is and bytes in base64, each with its direction; pings are no frames."""
        pair = Pair()
        pair.feed(0, TextMessage("hi"), size=1)
        pair.feed(1, Ping())
        pair.feed(1, BytesMessage(b"\xff"))
        self.assertEqual(pair.frames(), [("client", "hi", False), ("server", "/w==", True)])

    def test_fragments(self) -> None:
        """A message in fragments is one."""
        pair = Pair()
        pair.feed(0, TextMessage("one, ", message_finished=False))
        pair.feed(0, TextMessage("two"))
        self.assertEqual(pair.frames(), [("client", "one, two", False)])

    def test_compressed(self) -> None:
        """What both sides compress is read, with and without a context that is kept."""
        for more in (b"", b"; client_no_context_takeover; server_no_context_takeover"):
            pair = Pair(b"permessage-deflate" + more)
            for _ in range(3):
                pair.feed(0, TextMessage("there " * 20))
                pair.feed(1, TextMessage("and back " * 10))
            expected = [
                ("client", "there " * 20, False),
                ("server", "and back " * 10, False),
            ]
            self.assertEqual(pair.frames(), expected * 3)

    def test_close(self) -> None:
        """Each side's close is recorded with its code, and once."""
        pair = Pair()
        pair.feed(0, CloseConnection(4001, "bye"))
        pair.listeners[0].lost()
        pair.listeners[1].lost()
        message = SocketClosed("s", "page", 4001, "bye", was_clean=True)
        gone = SocketClosed("s", "server", 1006, None, was_clean=False)
        self.assertEqual(pair.records, [message, gone])

    def test_too_long(self) -> None:
        """A message of more than a megabyte is recorded by its length, and the next one whole."""
        pair = Pair()
        pair.feed(1, BytesMessage(bytes(LONGEST_BYTES + 1)))
        pair.feed(1, TextMessage("next"))
        long, following = pair.records
        self.assertEqual((long.data, long.is_base64), (None, None))
        self.assertEqual(long.detail, f"{LONGEST_BYTES + 1} bytes, too many to be kept")
        self.assertEqual(following.data, "next")

    @given(st.lists(st.binary(max_size=60), max_size=5), st.booleans())
    def test_anything(self, chunks: list[bytes], page: bool) -> None:  # noqa: FBT001 - Hypothesis gives it
        """No bytes raise, whatever extension was agreed upon."""
        for chosen in (b"", b"permessage-deflate"):
            extensions = agreed(chosen)
            assert extensions is not None
            records: list[Any] = []
            listener = FrameRecorder("s", page=page, extensions=extensions, record=records.append)
            for chunk in chunks:
                listener.data_received(chunk)
            listener.lost()
            self.assertLessEqual({type(each) for each in records}, {SocketActivity, SocketClosed})


class AgreedTests(SynchronousTestCase):
    """What a server has chosen."""

    def test_deflate(self) -> None:
        """The parameters of RFC 7692 are taken over."""
        parameters = b'; server_max_window_bits="10"; client_no_context_takeover'
        chosen = agreed(b"permessage-deflate" + parameters)
        assert chosen is not None
        (deflate,) = chosen
        assert isinstance(deflate, PerMessageDeflate)
        self.assertEqual((deflate.server_max_window_bits, deflate.client_max_window_bits), (10, 15))
        self.assertTrue(deflate.client_no_context_takeover)

    def test_unknown(self) -> None:
        """What cannot be followed is not listened to."""
        for chosen in (
            b"x-other",
            b"permessage-deflate, x-other",
            b"permessage-deflate; server_max_window_bits=8",
            b"permessage-deflate; server_max_window_bits",
        ):
            self.assertIsNone(agreed(chosen), chosen)

    @given(st.binary(max_size=60))
    def test_anything(self, header: bytes) -> None:
        """No header raises."""
        agreed(header)
        agreed(b"permessage-deflate;" + header)


class CostTests(GrowthMixin, SynchronousTestCase):
    """What listening may cost."""

    def recorded(self, data: bytes, chosen: bytes = b"permessage-deflate") -> list[Any]:
        """Give what is heard when a server says something, a part at a time."""
        records: list[Any] = []
        extensions = agreed(chosen)
        assert extensions is not None
        listener = FrameRecorder("s", page=False, extensions=extensions, record=records.append)
        for at in range(0, len(data), 1 << 16):
            listener.data_received(data[at : at + (1 << 16)])
        listener.lost()
        return records

    def test_inflated(self) -> None:
        """A message that becomes very long ends the listening; the close is noted all the same."""
        server = Connection(SERVER, extensions=agreed(b"permessage-deflate"))
        bomb = server.send(BytesMessage(b"0" * 30_000_000)) + server.send(TextMessage("after"))
        (closed,) = self.recorded(bomb)
        self.assertIsInstance(closed, SocketClosed)

    def test_compressed_well(self) -> None:
        """Messages that compress as well as messages do are heard."""
        server = Connection(SERVER, extensions=agreed(b"permessage-deflate"))
        message = [server.send(TextMessage('{"price": 12, "name": "x"}' * 200)) for _ in range(500)]
        self.assertEqual(len(self.recorded(b"".join(message))), 501)

    def test_many_frames(self) -> None:
        """Very many frames at once end the listening; as many one after the other do not."""
        frame = b"\x82\x00"
        self.assertLess(len(self.recorded(frame * 30_000)), 6_000)
        records: list[Any] = []
        listener = FrameRecorder("s", page=False, extensions=[], record=records.append)
        for _ in range(6_000):
            listener.data_received(frame)
        self.assertEqual(len(records), 6_000)

    def test_linear(self) -> None:
        """Listening takes time in proportion to what is said, however it is cut."""
        whole, parts = b"\x82\x7e\x01\x00" + b"0" * 256, b"\x02\x01a" + b"\x00\x01a" * 8
        for frame in (whole, parts + b"\x80\x00"):
            self.assert_linear(frame.__mul__, lambda data: self.recorded(data, b""), 200)
