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

SOCKET_FRAMES = frozenset({MessageFromPage, MessageFromServer, SendToPage, SendToServer})
"""Messages with a WebSocket frame. ``isinstance`` with a class of messages costs much more."""

NOTED = SOCKET_FRAMES | {HelloOk}
"""Messages that the driver acts upon: ``hello:ok``, and WebSocket frames, for backpressure."""
