"""The interface of a client's connection, for the requests that are answered over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from trafficmock.proxy.upstream.tied_upstream import Upstreams

if TYPE_CHECKING:
    from twisted.internet.interfaces import IPushProducer


class ClientTransport(Protocol):
    """The calls by which a request reads from, writes to and ends its client's connection."""

    secure: bool
    """Whether the client speaks TLS with the proxy."""

    upstreams: Upstreams
    """Keeps connections to servers for later requests."""

    def local(self) -> Any:
        """Return the local address to which the client connected."""

    def write(self, data: bytes) -> None:
        """Send bytes to the client."""

    def hold_body(self, *, hold: bool) -> None:
        """Pause or resume reading the request's body."""

    def consume(self, producer: IPushProducer | None) -> None:
        """Register the producer of a response body; ``None`` unregisters it at the end of the body.

        The producer is paused while the client reads more slowly than it produces.
        """

    def finished(self, *, close: bool) -> None:
        """Read the next request, or close the connection once everything is sent."""

    def reset(self) -> None:
        """Abort the connection with a TCP reset, so that the client sees a network error."""
