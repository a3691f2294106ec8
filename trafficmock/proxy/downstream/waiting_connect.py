"""Waits with the answer to a CONNECT of an attached process."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred

from trafficmock.proxy.upstream.server_protocols import Accepted


class WaitingConnect:
    """Reads nothing of a client until it is known what the server of its CONNECT accepts.

    :param known: fires then.
    :param answer: answers the CONNECT, with the bytes that the client has sent behind it; it is not
        called if the client is gone.
    :param close: closes the connection of a client that gave up.
    """

    def __init__(
        self,
        known: Deferred[Accepted],
        answer: Callable[[bytes], None],
        close: Callable[[], None],
    ) -> None:
        self._unread = b""
        self._is_gone = False
        self._answer = answer
        self._close = close
        known.addCallback(self._go_on)

    def data_received(self, data: bytes) -> None:
        self._unread += data

    def half_closed(self) -> None:
        """Close the connection: the client does not wait for the answer."""
        self._is_gone = True
        self._close()

    def lost(self) -> None:
        """Give up."""
        self._is_gone = True

    def _go_on(self, _: Accepted) -> None:
        if not self._is_gone:
            self._answer(self._unread)
