"""The kinds of messages that the driver sends later than others, or records when they are sent."""

from trafficmock.wire.inbound import (
    MessageFromPage,
    MessageFromServer,
    RequestResponse,
    SendToPage,
    SendToServer,
)
from trafficmock.wire.outbound import HelloOk, RequestObserved, RequestReplied

DEFERRABLE = frozenset({RequestObserved, RequestReplied, RequestResponse})
"""What workers get of all traffic, whether it concerns them or not."""

NOTED = frozenset({HelloOk, MessageFromPage, MessageFromServer, SendToPage, SendToServer})
"""What is noted when it has been sent: that a client is in, and each frame of a WebSocket."""
