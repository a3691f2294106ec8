"""Buffers the body of a proxied request until it is decided, and reports it to the coordinator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trafficmock.wire.inbound import RequestBody
from trafficmock.wire.payloads import body as bodies

if TYPE_CHECKING:
    from trafficmock.proxy.client_transport import ClientTransport
    from trafficmock.proxy.http1.framing import Framing
    from trafficmock.proxy.proxy_clients import ProxyClient

EARLY_BYTES = 64 * 1024
"""Bytes of a body that are read before the request is decided; then reading pauses."""


class HeldBody:
    """Buffers up to about :data:`EARLY_BYTES` of a body, or the whole body for a test.

    :param request_id: the id of the request.
    :param client: the client's connection, whose reading is paused while the buffer is full.
    :param proxy_client: sends the body to the coordinator, once.
    :param framing: how the body is delimited.
    """

    def __init__(
        self,
        request_id: str,
        client: ClientTransport,
        proxy_client: ProxyClient,
        framing: Framing,
    ) -> None:
        self.reported = True
        self._request_id = request_id
        self._client = client
        self._proxy_client = proxy_client
        self._framing = framing
        self._pieces: list[bytes] = []
        self._size = 0
        self._wanted = False

    def begin(self, content: bytes | None) -> None:
        """Set the body that is sent with the announcement; ``None`` if it has yet to arrive."""
        self.reported = content is not None
        if content:
            self._pieces = [content]

    def content(self) -> bytes:
        """Return the part of the body that has arrived."""
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0] if self._pieces else b""

    def release(self) -> None:
        """Stop buffering: the body streams to the server."""
        self._pieces = []

    def add(self, data: bytes) -> None:
        """Buffer a piece; a body above the limit of tests is reported by its size alone."""
        self._pieces.append(data)
        self._size += len(data)
        if self._wanted:
            limit = self._proxy_client.limits.handler if self._proxy_client.limits else 0
            if limit and self._size > limit:
                self._report_too_large()
        elif self._size > EARLY_BYTES:
            self._client.hold_body(hold=True)

    def want(self) -> None:
        """Buffer the whole body from now on, because a test gets it."""
        self._wanted = True
        self._client.hold_body(hold=False)

    def complete(self) -> None:
        """Send the body, which is complete now, to the coordinator if a test gets it."""
        if self._wanted:
            self.report()

    def report(self) -> None:
        if not self.reported:
            self.reported = True
            content = bodies.from_bytes(self.content())
            self._proxy_client.send(RequestBody(self._request_id, content))

    def progress(self) -> str:
        """Return a sentence for an error: how much arrived of a body that a test waits for."""
        if not self._wanted or self.reported:
            return ""
        return f" {self._size} bytes of its body came."

    def _report_too_large(self) -> None:
        self._wanted = False
        self.reported = True
        self._client.hold_body(hold=True)
        size = self._framing.length or self._size
        self._proxy_client.send(
            RequestBody(self._request_id, bodies.NULL, truncated=True, body_size=size)
        )
