"""The link of an open connection, as its protocol makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.errors import LocalError
from trafficmock.wire.limits import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
    from trafficmock.server.websocket.send_queue import SendQueue


@define(eq=False)
class OpenLink:
    """The link of an open connection; ``Link`` documents its methods."""

    _protocol: AutobahnProtocol
    _send_queue: SendQueue
    _send: Callable[[bytes, bool], None]
    peer: str
    id: str = ""
    hears: bool = field(default=True, init=False)
    """Whether messages are still delivered."""
    received_parts: int = field(default=0, init=False)
    """How often a part of a message came that did not make it whole."""

    @property
    def queued_bytes(self) -> int:
        """Bytes that the kernel has not taken yet."""
        return self._send_queue.queued_bytes

    @property
    def drained_total(self) -> int:
        """Bytes that the kernel has taken so far."""
        return self._send_queue.drained_total

    def send(self, payload: bytes, *, news: bool = False) -> None:
        """Send one text message."""
        if len(payload) > MAX_MESSAGE_BYTES:
            raise LocalError(
                f"a message of {len(payload)} bytes cannot be sent: clients take "
                f"{MAX_MESSAGE_BYTES} at most"
            )
        if self.hears:
            self._send(payload, news)

    def welcome(self) -> None:
        """Take messages of full size."""
        self._protocol.welcome()

    def close(self, code: int, reason: str) -> None:
        """Send a close frame and deliver nothing more."""
        if self.hears:
            self._protocol.send_close(code, reason)

    def abort(self) -> None:
        """Cut the connection."""
        self._protocol.cut()

    def pause(self) -> None:
        """Stop reading."""
        if self.hears:
            self._protocol.transport.pauseProducing()

    def resume(self) -> None:
        """Read again."""
        if self.hears:
            self._protocol.transport.resumeProducing()
