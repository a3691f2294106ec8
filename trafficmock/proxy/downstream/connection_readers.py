"""Interfaces of the readers of a connection: a request router, or the protocol after an upgrade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from trafficmock.proxy.downstream.client_connection import ClientConnection
    from trafficmock.proxy.http1.heads import RequestHead


class UpgradedProtocol(Protocol):
    """Reads a client's connection after an upgrade or CONNECT."""

    def data_received(self, data: bytes) -> None:
        """Handle received bytes."""

    def half_closed(self) -> None:
        """Handle the client's FIN."""

    def lost(self) -> None:
        """Handle the loss of the client's connection."""


class RequestRouter(Protocol):
    """Finds the destination of each request of a connection."""

    def enter(self, connection: ClientConnection, head: RequestHead, raw: bytes) -> None:
        """Send a request to a server, into a tunnel, or to this service.

        :param raw: the bytes of the head, and all bytes received behind it.
        :raises BadMessageError: if the request cannot be sent; it is answered with the error.
        """

    def lost(self, reason: BaseException | None) -> None:
        """Handle the loss of the connection."""
