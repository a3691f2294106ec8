"""The body of a proxied request before it goes to a server, and the coordinator's part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trafficmock.wire.inbound import RequestBody
from trafficmock.wire.payloads import body as bodies

if TYPE_CHECKING:
    from trafficmock.proxy.client_transport import ClientTransport
    from trafficmock.proxy.http1.framing import Framing
    from trafficmock.proxy.proxy_clients import ProxyClient

EARLY_BYTES = 64 * 1024
"""How much of a body is taken before it is known where it goes."""


class HeldBody:
    """Keeps a body as it comes, up to :data:`EARLY_BYTES`, or whole for a test that wants it.

    :param request_id: whose body it is.
    :param client: is not read while enough is kept.
    :param proxy_client: reports the body, once.
    :param framing: how it is delimited.
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
        """Take the body that goes with the announcement, ``None`` for one that is on its way."""
        self.reported = content is not None
        if content:
            self._pieces = [content]

    def content(self) -> bytes:
        """Give the part of the body that has arrived."""
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0] if self._pieces else b""

    def release(self) -> None:
        """Stop buffering: the body streams to the server."""
        self._pieces = []

    def add(self, data: bytes) -> None:
        """Keep a piece; a body that is too large for tests is reported as such."""
        self._pieces.append(data)
        self._size += len(data)
        if self._wanted:
            limit = self._proxy_client.limits.handler if self._proxy_client.limits else 0
            if limit and self._size > limit:
                self._report_too_large()
        elif self._size > EARLY_BYTES:
            self._client.hold_body(hold=True)

    def want(self) -> None:
        """Buffer the whole body, because a test gets it."""
        self._wanted = True
        self._client.hold_body(hold=False)

    def complete(self) -> None:
        """Send the complete body to the coordinator."""
        if self._wanted:
            self.report()

    def report(self) -> None:
        if not self.reported:
            self.reported = True
            content = bodies.from_bytes(self.content())
            self._proxy_client.send(RequestBody(self._request_id, content))

    def progress(self) -> str:
        """Say how much came of a body that a test waits for."""
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
