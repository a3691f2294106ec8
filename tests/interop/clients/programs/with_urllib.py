"""urllib of the standard library."""

import urllib.error
import urllib.request
from typing import Any

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order, answer


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def act(order: Order) -> dict[str, Any]:
    if order.mode == "ws":
        raise NotAvailableError("it has no WebSocket client")
    if len(dict(order.headers)) != len(order.headers):
        raise NotAvailableError("it sends each header name once")
    opener = urllib.request.build_opener(*(() if order.follow else (_Stay(),)))
    request = urllib.request.Request(  # noqa: S310 - http and https only
        order.url, method=order.method, headers=dict(order.headers)
    )
    request.data = order.pieces() if order.streamed else order.text
    try:
        response = opener.open(request, timeout=base.SECONDS)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        if order.mode == "sse":
            return base.events(response, lambda: opener.open(order.following_url).read())
        return answer(response.status, response.headers.items(), response.read())


if __name__ == "__main__":
    base.serve(act)
