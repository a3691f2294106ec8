"""requests."""

from typing import Any

import requests

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order, answer

_SESSION = requests.Session()


def act(order: Order) -> dict[str, Any]:
    if order.mode == "ws":
        raise NotAvailableError("it has no WebSocket client")
    if len(dict(order.headers)) != len(order.headers):
        raise NotAvailableError("it sends each header name once")
    response = _SESSION.request(
        order.method,
        order.url,
        headers=dict(order.headers),
        data=order.pieces() if order.streamed else order.text,
        stream=True,
        allow_redirects=order.follow,
        timeout=base.SECONDS,
    )
    if order.mode == "sse":
        return base.events(
            response.iter_lines(chunk_size=1), lambda: _SESSION.get(order.following_url)
        )
    pairs = list(response.raw.headers.items())
    return answer(response.status_code, pairs, response.iter_content(65536))


if __name__ == "__main__":
    base.serve(act)
