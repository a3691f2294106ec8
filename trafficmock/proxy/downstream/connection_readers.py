"""Who reads what a client sends: a router its requests, another protocol what comes after HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from trafficmock.proxy.downstream.client_connection import ClientConnection
    from trafficmock.proxy.http1.heads import RequestHead


class UpgradedProtocol(Protocol):
    """Reads what comes after HTTP on a client's connection."""

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""

    def half_closed(self) -> None:
        """Act on the client's FIN: it sends no more."""

    def lost(self) -> None:
        """Act on the end of the client's connection."""


class RequestRouter(Protocol):
    """Knows what the requests of a connection are aimed at."""

    def enter(self, connection: ClientConnection, head: RequestHead, raw: bytes) -> None:
        """Send a request to a server, into a tunnel, or to this service.

        :param raw: its bytes and all that came behind it.
        :raises BadMessageError: it has no valid target.
        """

    def lost(self, reason: BaseException | None) -> None:
        """Learn why the connection ended."""
