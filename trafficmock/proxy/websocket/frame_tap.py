"""What two sides say over a WebSocket that is passed through, for the history alone.

The bytes go on untouched whatever is made of them here: a listener that loses track
records no more, and nobody else notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pybase64
from wsproto.connection import CLIENT, SERVER, Connection, ConnectionState
from wsproto.events import BytesMessage, CloseConnection, TextMessage
from wsproto.extensions import Extension, PerMessageDeflate

from trafficmock.proxy.websocket.message_pieces import MessagePieces
from trafficmock.records import SocketActivity, SocketClosed

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.records import Record

LONGEST_BYTES = 1 << 20
"""A longer message is recorded by its length."""

MOST_INFLATED = 100
"""How many times as long as what came in the messages may be that come out, and a MiB more."""

MOST_FRAMES_AT_ONCE = 4096
"""Frames that may come in one piece, some tens of KiB."""

_SLICE = 2048
"""Bytes looked at in one go: two MiB at most come out of them."""

_ABNORMAL = 1006


class FrameTap:
    """Listens to both sides, once they are known to speak in a way that can be followed.

    :param record: takes what was understood.
    """

    def __init__(self, socket_id: str, record: Callable[[Record], None]) -> None:
        self._socket_id = socket_id
        self._record = record
        self._page: FrameRecorder | None = None
        self._server: FrameRecorder | None = None

    def listen(self, extensions: bytes) -> None:
        """Begin.

        :param extensions: the server's ``Sec-WebSocket-Extensions``.
        """
        of_page, of_server = agreed(extensions), agreed(extensions)
        if of_page is None or of_server is None:
            return
        name, record = self._socket_id, self._record
        self._page = FrameRecorder(name, page=True, extensions=of_page, record=record)
        self._server = FrameRecorder(name, page=False, extensions=of_server, record=record)

    def from_page(self, data: bytes) -> None:
        """Handle bytes of the application."""
        if self._page is not None:
            self._page.data_received(data)

    def from_server(self, data: bytes) -> None:
        if self._server is not None:
            self._server.data_received(data)

    def page_lost(self) -> None:
        """Handle the loss of the application's connection."""
        if self._page is not None:
            self._page.lost()

    def server_lost(self) -> None:
        """Handle the loss of the server's connection."""
        if self._server is not None:
            self._server.lost()


class FrameRecorder:
    """Reads what one side sends.

    :param page: whether that is the application's side; else it is the server's.
    :param extensions: what both sides have agreed upon.
    :param record: takes what was understood.
    """

    def __init__(
        self,
        socket_id: str,
        *,
        page: bool,
        extensions: list[Extension],
        record: Callable[[Record], None],
    ) -> None:
        self._socket_id = socket_id
        self._side: Literal["page", "server"] = "page" if page else "server"
        self._direction: Literal["client", "server"] = "client" if page else "server"
        # The reader of the application's frames has the role of the server, and the reverse.
        self._connection = Connection(SERVER if page else CLIENT, extensions=extensions)
        self._record = record
        self._text = MessagePieces("")
        self._bytes = MessagePieces(b"")
        self._done = False
        self._deaf = False
        self._came_in = self._came_out = 0

    def data_received(self, data: bytes) -> None:
        """Read the frames in received bytes, unless that costs too much."""
        frames = 0
        for start in range(0, len(data), _SLICE):
            if self._done or self._deaf:
                return
            frames += self._follow(data[start : start + _SLICE])
            most = MOST_INFLATED * self._came_in + LONGEST_BYTES
            if frames > MOST_FRAMES_AT_ONCE or self._came_out > most:
                self._deaf = True
                self._text.clear()
                self._bytes.clear()

    def _follow(self, data: bytes) -> int:
        """Take what arrived; tell how many frames, or parts of frames, it brought."""
        self._came_in += len(data)
        frames = 0
        self._connection.receive_data(data)
        for event in self._connection.events():
            frames += 1
            if isinstance(event, TextMessage | BytesMessage):
                self._came_out += len(event.data)
                self._add(event)
            elif isinstance(event, CloseConnection):
                self._end(event)
        return frames

    def lost(self) -> None:
        """Record the close of this side, because its connection is lost."""
        if not self._done:
            self._done = True
            self._record(
                SocketClosed(self._socket_id, self._side, _ABNORMAL, None, was_clean=False)
            )

    def _add(self, event: TextMessage | BytesMessage) -> None:
        text = isinstance(event, TextMessage)
        pieces: Any = self._text if text else self._bytes
        pieces.add(event.data)
        if pieces.size > LONGEST_BYTES:
            pieces.clear()
        if event.message_finished:
            size = pieces.size
            self._tell(pieces.take(), size, text=text)

    def _tell(self, message: Any, size: int, *, text: bool) -> None:
        detail = data = None
        if size > LONGEST_BYTES:
            detail = f"{size} {'characters' if text else 'bytes'}, too many to be kept"
        else:
            data = message if text else pybase64.b64encode(message).decode("ascii")
        self._record(
            SocketActivity(
                self._socket_id,
                self._direction,
                "frame",
                detail,
                data,
                is_base64=None if data is None else not text,
            )
        )

    def _end(self, event: CloseConnection) -> None:
        """Note a close; a breach of the rules only ends the listening."""
        self._done = True
        if self._connection.state is ConnectionState.REMOTE_CLOSING:
            code, reason = int(event.code), event.reason or None
            self._record(SocketClosed(self._socket_id, self._side, code, reason, was_clean=True))


def agreed(header: bytes) -> list[Extension] | None:
    """Read the extensions that a server has chosen (RFC 7692).

    :param header: its ``Sec-WebSocket-Extensions``.
    :returns: what a listener needs to follow; ``None`` when it cannot.
    """
    text = header.decode("latin-1").strip()
    if not text:
        return []
    name = text.partition(";")[0].strip().lower()
    if name != PerMessageDeflate.name or "," in text:
        return None
    deflate = PerMessageDeflate()
    try:
        deflate.finalize(text.replace('"', ""))
    except (ValueError, IndexError):
        return None
    return [deflate]
