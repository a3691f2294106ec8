"""A client of the core within this process, as the driver sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from trafficmock.http.backpressure import FlowControlled
    from trafficmock.wire.inbound import Message


class LocalClient(Protocol):
    """A client of the core within this process: it gets messages, not their encoding.

    :param id: given by the driver.
    :param kind: the way it is connected, as ``/api/connections`` shows it.
    """

    id: str
    kind: str

    def deliver(self, message: Message) -> None:
        """Deliver a message of the core; it must not raise."""

    def socket(self, socket_id: str) -> FlowControlled | None:
        """Give one of its WebSockets, which is held back while its receiver lags."""
