"""httpx."""

from typing import Any

import httpx

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order, answer

_CLIENT = httpx.Client(timeout=base.SECONDS)


def act(order: Order) -> dict[str, Any]:
    if order.mode == "ws":
        raise NotAvailableError("it has no WebSocket client")
    with _CLIENT.stream(
        order.method,
        order.url,
        headers=list(order.headers),
        content=order.pieces() if order.streamed else order.text,
        follow_redirects=order.follow,
    ) as response:
        if order.mode == "sse":
            return base.events(response.iter_lines(), lambda: _CLIENT.get(order.following_url))
        return answer(response.status_code, response.headers.multi_items(), response.iter_bytes())


if __name__ == "__main__":
    base.serve(act)
