"""Decides by a connection's first bytes whether the forward proxy or the service reads it."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable
from typing import Any

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from trafficmock.wire.http_syntax import TCHAR

_TCHAR = TCHAR.encode("ascii")
_PROXIED = re.compile(rb"[\r\n]{0,64}(?:CONNECT |%s{1,64} [A-Za-z])" % _TCHAR)
_SEALED = b"TRAFFICMOCK-SEALED "
"""Begins the line that a relay of a sealed command writes before all else, with its ``--reach``."""

_LONGEST_SEALED = 80 * 1024
_UNDECIDED = re.compile(rb"[\r\n]{0,64}%s{0,64} ?" % _TCHAR)


class ServiceFactory(typing.Protocol):
    """Makes the protocol of the service itself: REST and ``/ws``."""

    def __call__(self, *, once: bool) -> Protocol:
        """Make the protocol.

        :param once: whether the connection is to be closed after one response.
        """


class ProtocolSniffer(Protocol):
    """Reads the first bytes of a connection, then hands it to the protocol that they are for.

    Requests with CONNECT and with targets in absolute form are for the forward proxy, all others
    for the service. If the target is the service itself, the proxy hands the connection to it.

    :param proxy: makes the protocol of the forward proxy.
    :param service: makes the protocol of the service itself.
    :param ended: called when the connection ends before a protocol was chosen.
    :param seconds: how long the first bytes may take; then the connection is closed.
    :param sealed: returns what makes the protocol of the forward proxy for a sealed command, from
        what it may reach; ``None`` if that is malformed. Without it, nobody says so.
    """

    transport: Any

    def __init__(
        self,
        *,
        proxy: Callable[[], Protocol],
        service: ServiceFactory,
        ended: Callable[[], None],
        clock: IReactorTime,
        seconds: float,
        sealed: Callable[[str], Callable[[], Protocol] | None] | None = None,
    ) -> None:
        self._sealed = sealed
        self._proxy = proxy
        self._service = service
        self._ended = ended
        self._clock = clock
        self._seconds = seconds
        self._buffer = b""
        self._timer: IDelayedCall | None = None

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Start the time limit for the first bytes."""
        self._timer = self._clock.callLater(self._seconds, self.transport.loseConnection)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Hand the connection over, or wait for more bytes."""
        self._buffer += data
        if self._sealed is not None and self._buffer.startswith(_SEALED):
            self._read_sealed(self._sealed)
            if self._sealed is not None:
                return
        if not self._buffer:
            return
        if _PROXIED.match(self._buffer):
            self._hand_to(self._proxy())
        elif not _UNDECIDED.fullmatch(self._buffer):
            self._hand_to(self._service(once=False))

    def _read_sealed(self, sealed: Callable[[str], Callable[[], Protocol] | None]) -> None:
        """Read the line of a relay, and go on with what is behind it."""
        line, end, rest = self._buffer.partition(b"\r\n")
        if not end and len(line) <= _LONGEST_SEALED:
            return
        proxy = sealed(line.removeprefix(_SEALED).decode("latin-1")) if end else None
        if proxy is None:
            self.transport.loseConnection()
            return
        self._proxy, self._sealed, self._buffer = proxy, None, rest

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002, N802 - Twisted's signature
        """Report the end of a connection that no protocol was chosen for."""
        self._stop_timer()
        self._ended()

    def _hand_to(self, protocol: Protocol) -> None:
        self._stop_timer()
        buffer, self._buffer = self._buffer, b""
        hand_over(self.transport, protocol, buffer)

    def _stop_timer(self) -> None:
        if self._timer is not None and self._timer.active():
            self._timer.cancel()


def hand_over(transport: Any, protocol: Protocol, data: bytes) -> None:
    """Replace the protocol of a transport; the new one gets the bytes that were read already."""
    if hasattr(transport, "wrappedProtocol"):
        transport.wrappedProtocol = protocol
    else:
        transport.protocol = protocol
    protocol.makeConnection(transport)
    if data:
        protocol.dataReceived(data)
