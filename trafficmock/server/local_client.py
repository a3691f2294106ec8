"""The interface of a client of the core within this process, for the driver."""

from __future__ import annotations

from typing import Protocol

from trafficmock.http.backpressure import FlowControlled
from trafficmock.wire.inbound import Message


class LocalClient(Protocol):
    """A client of the core within this process, which gets messages as objects.

    :param id: the connection id, set by the driver.
    """

    id: str

    @property
    def kind(self) -> str:
        """The kind of connection, for ``/api/connections``."""

    def deliver(self, message: Message) -> None:
        """Deliver a message of the core; it must not raise."""

    def socket(self, socket_id: str) -> FlowControlled | None:
        """Return one of its WebSockets, for backpressure; ``None`` for an unknown id."""
