"""A WebSocket connection that takes the short way for whole messages.

Handshake, control frames, fragments and errors are Autobahn's, untouched. This leans on
what Autobahn and Twisted keep inside, so it is for the versions it was compared with only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.tcp import Connection

from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
from trafficmock.server.websocket.data_frames import MessageReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_READ_BYTES = 64 * 1024
_LARGE_READ_BYTES = 240 * 1024
"""How much is read at a time within a large message: more would be fresh memory each time."""


class FastProtocol(AutobahnProtocol):
    """See ``AutobahnProtocol`` for the arguments."""

    data: bytes
    _large_reads = False

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._reader = MessageReader(self._longest)

    def welcome(self) -> None:
        super().welcome()
        self._reader.longest = self._longest

    def _read(self, data: bytes) -> None:
        reader = self._reader
        if not self._between_messages():
            self._read_slowly(reader.give_back() + data)
            return
        reader.feed(data)
        link, handler = self._link, self._handler
        while link is not None and link.takes_messages and (message := reader.next()) is not None:
            self._guard(link, handler.link_received, link, message)
        if reader.foreign or not self._between_messages():
            self._read_slowly(reader.give_back())
        elif self._large_reads or reader.missing > _READ_BYTES:
            self._set_read_size(reader.missing)

    def _read_slowly(self, data: bytes) -> None:
        """Let Autobahn read, and take back a header that it waits for the rest of."""
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
        self._large_reads = missing > _READ_BYTES
        self.transport.bufferSize = _LARGE_READ_BYTES if self._large_reads else _READ_BYTES

    def _direct_write(self) -> Callable[[Iterable[bytes | memoryview]], int] | None:
        """Write to the socket itself; under TLS it is not the socket that must be written to."""
        transport = self.transport
        if not isinstance(transport, Connection) or transport.TLS:
            return None
        sendmsg = transport.getHandle().sendmsg

        def write(pieces: Iterable[bytes | memoryview]) -> int:
            try:
                return sendmsg(pieces)
            except OSError:
                # Full, or broken: the transport finds out which, and knows what to do.
                return 0

        return write
