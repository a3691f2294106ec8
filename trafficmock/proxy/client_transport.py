"""The connection to a client, for the modules that answer it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from twisted.internet.interfaces import IPushProducer


class ClientTransport(Protocol):
    """What a request may do to the client's connection."""

    secure: bool
    """The client speaks TLS."""

    def local(self) -> Any:
        """Give the local address that the client came to."""

    def write(self, data: bytes) -> None:
        """Send to the client."""

    def hold_body(self, *, hold: bool) -> None:
        """Pause or resume reading the request's body."""

    def consume(self, producer: IPushProducer | None) -> None:
        """Hold ``producer`` back while the client does not take more; ``None`` at its end."""

    def finished(self, *, close: bool) -> None:
        """Go on with the next request, or close the connection when all is sent."""

    def reset(self) -> None:
        """Cut the connection, so that the client sees an error of the network."""
