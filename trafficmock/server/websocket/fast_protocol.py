"""A WebSocket connection that reads whole messages without Autobahn.

Handshake, control frames, fragments and errors are left to Autobahn. The module depends on
internals of Autobahn and Twisted, so it is used only with versions that it was compared with.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from twisted.internet.tcp import Connection

from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
from trafficmock.server.websocket.data_frames import MessageReader
from trafficmock.server.websocket.send_queue import DirectWrite

_READ_BYTES = 64 * 1024
_LARGE_READ_BYTES = 240 * 1024
"""Bytes read at a time within a large message: a larger buffer would be new memory each time."""


class FastProtocol(AutobahnProtocol):
    """The protocol of a connection; see :class:`AutobahnProtocol` for the arguments."""

    data: bytes
    _large_reads = False

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._reader = MessageReader(self._longest)

    def welcome(self) -> None:
        super().welcome()
        self._reader.longest = self._longest

    def _read(self, data: bytes) -> None:
        reader, link = self._reader, self._link
        if not self._between_messages():
            self._read_slowly(reader.give_back() + data)
            self._count_arriving(data)
            return
        reader.feed(data)
        received = self._handler.link_received
        while link is not None and link.takes_messages and (message := reader.next()) is not None:
            self._guard(link, received, link, message)
        # A link that still takes messages was not closed, so it is between messages.
        takes_messages = link is not None and link.takes_messages
        if reader.foreign or not (takes_messages or self._between_messages()):
            self._read_slowly(reader.give_back())
            self._count_arriving(data)
        elif self._large_reads or reader.missing:
            self._count_arriving(data)
            self._set_read_size(reader.missing)

    def _read_slowly(self, data: bytes) -> None:
        """Have Autobahn read bytes, and take back an incomplete header that it has buffered."""
        if not data:
            return
        self._dataReceived(data)
        if self._between_messages() and self.data:
            self._reader.feed(self.data)
            self.data = b""

    def _between_messages(self) -> bool:
        return (
            self.state == self.STATE_OPEN and self.current_frame is None and not self.inside_message
        )

    def _within_message(self) -> bool:
        return self._reader.missing > 0 or super()._within_message()

    def _set_read_size(self, missing: int) -> None:
        large = missing > _READ_BYTES
        if large != self._large_reads:
            self._large_reads = large
            self.transport.bufferSize = _LARGE_READ_BYTES if large else _READ_BYTES

    def _direct_write(self) -> DirectWrite | None:
        """Return a function that writes to the socket.

        :returns: ``None`` with TLS, another transport, or on Windows, which has no ``sendmsg``.
        """
        transport = self.transport
        if not isinstance(transport, Connection) or transport.TLS or sys.platform == "win32":
            return None
        socket = transport.getHandle()
        send, sendmsg = socket.send, socket.sendmsg

        def write(pieces: Sequence[bytes | memoryview]) -> int:
            try:
                # Usually there is one piece, and send costs less than sendmsg.
                return send(pieces[0]) if len(pieces) == 1 else sendmsg(pieces)
            except OSError:
                # The buffer is full, or the connection is broken: the transport handles both.
                return 0

        return write
