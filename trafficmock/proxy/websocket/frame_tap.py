"""Reads the messages of a passed-through WebSocket for the history.

The bytes are forwarded unchanged whether they can be read here or not. A recorder that cannot
follow the frames stops recording, without an effect on the WebSocket.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pybase64
from wsproto.connection import CLIENT, SERVER, Connection, ConnectionState
from wsproto.events import BytesMessage, CloseConnection, TextMessage
from wsproto.extensions import Extension, PerMessageDeflate

from trafficmock.proxy.websocket.message_pieces import MessagePieces
from trafficmock.records import Record, SocketActivity, SocketClosed

LONGEST_BYTES = 1 << 20
"""Bytes, or characters of text, of the longest message whose content is recorded."""

MOST_INFLATED = 100
"""Recording stops at more decompressed bytes than this times the received ones, and one MiB."""

MOST_FRAMES_AT_ONCE = 4096
"""The most frames in the bytes of one call, which are some tens of KiB."""

_SLICE = 2048
"""Bytes that are parsed at a time: they are decompressed to two MiB at most."""

_ABNORMAL = 1006


class FrameTap:
    """Reads both sides of one WebSocket, if their extensions are known.

    :param socket_id: the id of the WebSocket.
    :param record: called with each record for the history; ``None`` to read nothing.
    """

    def __init__(self, socket_id: str, record: Callable[[Record], None] | None) -> None:
        self._socket_id = socket_id
        self._record = record
        self._page: FrameRecorder | None = None
        self._server: FrameRecorder | None = None

    def listen(self, extensions: bytes) -> None:
        """Begin, once the server has answered the handshake.

        :param extensions: the server's ``Sec-WebSocket-Extensions``.
        """
        name, record = self._socket_id, self._record
        of_page, of_server = agreed(extensions), agreed(extensions)
        if of_page is None or of_server is None or record is None:
            return
        self._page = FrameRecorder(name, page=True, extensions=of_page, record=record)
        self._server = FrameRecorder(name, page=False, extensions=of_server, record=record)

    def from_page(self, data: bytes) -> None:
        """Read bytes of the application."""
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
    """Records the messages and the close of one side.

    :param page: whether it is the application's side; else it is the server's.
    :param extensions: the extensions of the WebSocket.
    :param record: called with each record for the history.
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
        # Frames of the application are parsed in the role of the server, and the reverse.
        self._connection = Connection(SERVER if page else CLIENT, extensions=extensions)
        self._record = record
        self._text = MessagePieces("")
        self._bytes = MessagePieces(b"")
        self._done = False
        self._deaf = False
        self._came_in = self._came_out = 0

    def data_received(self, data: bytes) -> None:
        """Read frames; stop recording if there are too many, or they decompress to too much."""
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
        """Read frames, and return the number of frames and parts of frames."""
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
        """Record a close frame; a protocol error only ends the recording."""
        self._done = True
        if self._connection.state is ConnectionState.REMOTE_CLOSING:
            code, reason = int(event.code), event.reason or None
            self._record(SocketClosed(self._socket_id, self._side, code, reason, was_clean=True))


def agreed(header: bytes) -> list[Extension] | None:
    """Read the extensions that a server has chosen.

    :param header: its ``Sec-WebSocket-Extensions``.
    :returns: the extensions for wsproto: none, or permessage-deflate (RFC 7692); ``None`` if there
        are others.
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
