"""Lets the proxy remove the secrets of texts that this process is about to print or write."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from msgspec import UNSET

from trafficmock import __version__
from trafficmock.errors import TrafficMockError
from trafficmock.report.report_settings import added_secrets
from trafficmock.testing.adapters.ack_timeout import ack_seconds
from trafficmock.testing.adapters.proxy_address import websocket_url
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.texts.named_fields import OFF
from trafficmock.wire import PROTOCOL_VERSION
from trafficmock.wire.client_message import RedactQuery
from trafficmock.wire.codec import encode
from trafficmock.wire.inbound import Hello


def redacted_texts(texts: Sequence[str], proxy_url: str, token: str | None) -> list[str]:
    """Return texts with marks for their secrets, by the rule of the proxy, which has it alone.

    It blocks until the proxy has answered, at the longest as long as for an acknowledgement. The
    connection is one of its own: the reactor or event loop of this thread may wait, too, and those
    of the tests may be closed.

    :returns: instead of each text why it is not shown, if the proxy cannot be asked.
    """
    words = added_secrets(os.environ)
    if OFF in words or not any(texts):
        return list(texts)
    try:
        return _asked(RedactQuery("texts", list(texts), list(words)), proxy_url, token)
    except TrafficMockError as error:
        reason = f"(the proxy could not remove its secrets: {error})"
        return [each and reason for each in texts]


def _asked(query: RedactQuery, proxy_url: str, token: str | None) -> list[str]:
    # Only where it is needed: an application can be started without this package.
    try:
        from websockets.exceptions import WebSocketException  # noqa: PLC0415
        from websockets.sync.client import connect  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise ConnectionLostError(str(missing)) from None
    limit = ack_seconds()
    hello = Hello(
        protocol_version=PROTOCOL_VERSION,
        package_version=__version__,
        role="playwright",
        client_id="python-texts",
        token=token or UNSET,
    )
    try:
        with connect(
            websocket_url(proxy_url),
            compression=None,
            max_size=None,
            proxy=None,
            open_timeout=limit,
            close_timeout=limit,
        ) as socket:
            for message in (hello, query):
                socket.send(encode(message), text=True)
            while True:
                answer = json.loads(socket.recv(limit))
                if answer["type"] == "hello:error":
                    raise ConnectionLostError(answer["message"])
                if answer["type"] == "redact:result":
                    break
    except (OSError, WebSocketException) as error:
        raise ConnectionLostError(str(error) or "it did not answer") from None
    if "error" in answer:
        raise ConnectionLostError(answer["error"])
    texts: list[str] = answer["texts"]
    return texts
