"""The resource of the coordinator's WebSocket, which upgrades connections."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

from autobahn.twisted.resource import WebSocketResource
from autobahn.twisted.websocket import WebSocketServerFactory
from twisted.internet.interfaces import IAddress, IReactorTime
from twisted.logger import Logger
from twisted.web.http import Request
from twisted.web.resource import IResource

from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
from trafficmock.server.websocket.fast_protocol import FastProtocol
from trafficmock.server.websocket.link import Link, LinkHandler, WebSocketLimits
from trafficmock.server.websocket.masking import native_parts_missing
from trafficmock.server.websocket.oversized_frames import READ_PAST
from trafficmock.server.websocket.write_coalescing import WriteCoalescer

__all__ = ["Link", "LinkHandler", "WebSocketLimits", "native_parts_missing", "websocket_resource"]

KNOWN_VERSIONS = {"autobahn": ((25, 10), (26, 11)), "twisted": ((24, 10), (26, 11))}
"""The versions that ``FastProtocol`` was compared with: from the first, before the second."""

_log = Logger()


class LinkFactory(WebSocketServerFactory):
    """Makes the protocol of each upgraded connection.

    :param protocol: the class of the protocol.
    :param handler: handles the events of all connections.
    :param limits: the limits of each connection.
    :param reactor: for timers.
    """

    def __init__(
        self,
        protocol: type[AutobahnProtocol],
        *,
        handler: LinkHandler,
        limits: WebSocketLimits,
        reactor: IReactorTime,
    ) -> None:
        super().__init__(server=None, reactor=reactor)
        self._protocol = protocol
        self._handler = handler
        self._limits = limits
        self._coalescer = WriteCoalescer(reactor)
        self.setProtocolOptions(
            webStatus=False,
            # The JSON decoder checks UTF-8 itself.
            utf8validateIncoming=False,
            # Shorter messages above the limit are skipped; beyond this one, Autobahn closes.
            maxMessagePayloadSize=min(READ_PAST * limits.max_frame_bytes, sys.maxsize),
            # Send a close frame with the reason before closing.
            failByDrop=False,
            # The handshake has arrived completely; closing has a timer in AutobahnProtocol.
            openHandshakeTimeout=0,
            closeHandshakeTimeout=0,
        )

    def buildProtocol(self, addr: IAddress) -> AutobahnProtocol:  # noqa: ARG002, N802 - Twisted's signature
        """Make the protocol of a connection."""
        protocol = self._protocol(
            handler=self._handler,
            limits=self._limits,
            coalescer=self._coalescer,
            clock=self.reactor,
        )
        protocol.factory = self
        return protocol


class LinkResource(WebSocketResource):
    """Upgrades a connection to a WebSocket."""

    def render(self, request: Request) -> bytes | int:
        """Unregister the HTTP channel from the transport, and give the transport to Autobahn."""
        transport: Any = request.channel.transport
        if getattr(transport, "producer", None) is not None:
            transport.unregisterProducer()
        answer: bytes | int = super().render(request)
        return answer


def websocket_resource(
    handler: LinkHandler, *, limits: WebSocketLimits, reactor: IReactorTime
) -> IResource:
    """Make the resource of ``/ws``, which upgrades requests and reports their links.

    Callers check before that the request is an upgrade from an allowed host and origin. No
    extension is negotiated; of subprotocols the first one offered is accepted. With versions that
    are not in :data:`KNOWN_VERSIONS`, all frames are left to Autobahn, which is slower.

    :param handler: handles the events of all links.
    :param limits: the limits of each connection.
    :param reactor: for timers.
    """
    missing = native_parts_missing()
    if missing:
        _log.warn("{missing}", missing=missing)
    unknown = _unknown_version()
    if unknown:
        _log.warn(
            "Using Autobahn's own WebSocket path, which is slower: {unknown} is not among the "
            "versions that the faster one has been compared with.",
            unknown=unknown,
        )
    factory = LinkFactory(
        AutobahnProtocol if unknown else FastProtocol,
        handler=handler,
        limits=limits,
        reactor=reactor,
    )
    resource: IResource = LinkResource(factory)
    return resource


def _unknown_version() -> str | None:
    """Return a library and its version that is not in :data:`KNOWN_VERSIONS`, or ``None``."""
    for library, (first, beyond) in KNOWN_VERSIONS.items():
        found = version(library)
        if not first <= _numbers(found) < beyond:
            return f"{library} {found}"
    return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
