"""The first bytes of a connection, which tell the forward proxy from the other doors."""

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
_PROXIED = re.compile(rb"[\r\n]*(?:CONNECT |%s{1,64} [A-Za-z])" % _TCHAR)
_UNDECIDED = re.compile(rb"[\r\n]*%s{0,64} ?" % _TCHAR)


class ServiceFactory(typing.Protocol):
    """Makes the protocol of the other doors."""

    def __call__(self, *, once: bool) -> Protocol:
        """Make it.

        :param once: for one answer only.
        """


class ProtocolSniffer(Protocol):
    """Reads until it is known who is to speak, and lets them.

    Only what may be for the forward proxy waits for the whole request line; everything
    else goes on with its first bytes.

    :param choose: given the method and the target of what may be for the forward proxy,
        and the local address, makes its protocol; ``None`` when it is for the other doors.
    :param service: makes the protocol of the other doors.
    :param ended: called when the connection ends before anybody was chosen.
    :param longest: bytes to wait for the request line.
    """

    transport: Any

    def __init__(
        self,
        *,
        choose: Callable[[bytes, bytes, Any], Protocol | None],
        service: ServiceFactory,
        ended: Callable[[], None],
        clock: IReactorTime,
        seconds: float,
        longest: int,
    ) -> None:
        self._choose = choose
        self._service = service
        self._ended = ended
        self._clock = clock
        self._seconds = seconds
        self._longest = longest
        self._buffer = b""
        self._timer: IDelayedCall | None = None

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Give the client its time."""
        self._timer = self._clock.callLater(self._seconds, self.transport.loseConnection)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Decide, or wait for more."""
        self._buffer += data
        buffer = self._buffer
        if _PROXIED.match(buffer) is None:
            if _UNDECIDED.fullmatch(buffer) is None or len(buffer) > self._longest:
                self._hand_to(self._service(once=False))
            return
        line, ended, _ = buffer.lstrip(b"\r\n").partition(b"\n")
        if ended:
            method, _, rest = line.removesuffix(b"\r").partition(b" ")
            chosen = self._choose(method, rest.partition(b" ")[0], self.transport.getHost())
            self._hand_to(self._service(once=True) if chosen is None else chosen)
        elif len(buffer) > self._longest:
            self._hand_to(self._service(once=False))

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002, N802 - Twisted's signature
        """Count the end."""
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
