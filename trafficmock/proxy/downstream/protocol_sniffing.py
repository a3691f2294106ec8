"""The first bytes of a connection tell whether it is for the forward proxy or for the service."""

from __future__ import annotations

import re
import typing
from typing import TYPE_CHECKING, Any

from twisted.internet.protocol import Protocol, connectionDone

from trafficmock.wire.http_syntax import TCHAR

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.interfaces import IDelayedCall, IReactorTime
    from twisted.python.failure import Failure

_TCHAR = TCHAR.encode("ascii")
_PROXIED = re.compile(rb"[\r\n]{0,64}(?:CONNECT |%s{1,64} [A-Za-z])" % _TCHAR)
_UNDECIDED = re.compile(rb"[\r\n]{0,64}%s{0,64} ?" % _TCHAR)


class ServiceFactory(typing.Protocol):
    """Makes the protocol of the service itself: REST and ``/ws``."""

    def __call__(self, *, once: bool) -> Protocol:
        """Make it.

        :param once: for one answer only.
        """


class ProtocolSniffer(Protocol):
    """Reads until it is known who is to speak, and lets them.

    The first bytes tell: CONNECT and targets in absolute form are the forward proxy's, everything
    else is for the service itself. The proxy hands on what turns out to be for the service.

    :param proxy: makes the protocol of the forward proxy.
    :param service: makes the protocol of the service itself.
    :param ended: called when the connection ends before anybody was chosen.
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
    ) -> None:
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
        """Choose the protocol, or wait for more bytes."""
        self._buffer += data
        if _PROXIED.match(self._buffer):
            self._hand_to(self._proxy())
        elif not _UNDECIDED.fullmatch(self._buffer):
            self._hand_to(self._service(once=False))

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002, N802 - Twisted's signature
        """Count the connection as closed."""
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
    """Let another protocol have a connection, and what was read from it already."""
    if hasattr(transport, "wrappedProtocol"):
        transport.wrappedProtocol = protocol
    else:
        transport.protocol = protocol
    protocol.makeConnection(transport)
    if data:
        protocol.dataReceived(data)
