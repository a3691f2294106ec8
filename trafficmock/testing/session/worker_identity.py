"""Who a test worker says it is when it connects, and which additions to protocol 3 it uses."""

from __future__ import annotations

from attrs import frozen
from msgspec import UNSET

from trafficmock.wire import PROTOCOL_VERSION
from trafficmock.wire.inbound import Hello

SUBSCRIBE = "subscribe"
DECLINE = "decline"
AGENTS = "agents"
FEATURES = ("agents", "decline", "headers-list", "subscribe")
"""The additions to protocol 3 that we use where the proxy has them."""


@frozen(kw_only=True)
class WorkerIdentity:
    """Who we say we are.

    :param worker_id: the index of the test worker, as text.
    """

    version: str
    worker_id: str = "0"
    token: str | None = None

    def hello(self) -> Hello:
        """Make the first message of a connection."""
        return Hello(
            protocol_version=PROTOCOL_VERSION,
            package_version=self.version,
            role="playwright",
            client_id=f"python-{self.worker_id}",
            worker_id=self.worker_id,
            token=UNSET if self.token is None else self.token,
            features=list(FEATURES),
        )
