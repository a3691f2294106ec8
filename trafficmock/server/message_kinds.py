"""The types of messages that the driver may defer, or that it acts upon when it sends them."""

from trafficmock.wire.inbound import (
    MessageFromPage,
    MessageFromServer,
    RequestResponse,
    SendToPage,
    SendToServer,
)
from trafficmock.wire.outbound import HelloOk, RequestObserved, RequestReplied

DEFERRABLE = frozenset({RequestObserved, RequestReplied, RequestResponse})
"""Messages about all traffic, for workers that observe it: they may be sent later than others."""

NOTED = frozenset({HelloOk, MessageFromPage, MessageFromServer, SendToPage, SendToServer})
"""Messages that the driver acts upon: ``hello:ok``, and WebSocket frames, for backpressure."""
