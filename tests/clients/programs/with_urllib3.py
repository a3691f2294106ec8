"""urllib3, which takes its proxy from us: it reads no environment."""

import os
import ssl
from typing import Any
from urllib.parse import urlsplit

import urllib3

from tests.clients.programs import base
from tests.clients.programs.base import NotAvailableError, Order, answer

_PROXY = urlsplit(os.environ["HTTP_PROXY"])
_MANAGER = urllib3.ProxyManager(
    f"http://{_PROXY.hostname}:{_PROXY.port}",
    proxy_headers=urllib3.make_headers(proxy_basic_auth=f"{_PROXY.username}:{_PROXY.password}"),
    ssl_context=ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"]),
    retries=False,
)


def act(order: Order) -> dict[str, Any]:
    if order.mode == "ws":
        raise NotAvailableError("urllib3 has no WebSocket")
    headers = urllib3.HTTPHeaderDict()
    for name, value in order.headers:
        headers.add(name, value)
    response = _MANAGER.request(
        order.method,
        order.url,
        headers=headers,
        body=order.pieces() if order.streamed else order.text,
        preload_content=False,
        redirect=order.follow,
        retries=urllib3.Retry(5, raise_on_redirect=False) if order.follow else False,
        timeout=20,
    )
    if order.mode == "sse":
        return base.events(response, lambda: _MANAGER.request("GET", order.following_url))
    outcome = answer(response.status, response.headers.items(), response.stream(65536))
    response.release_conn()
    return outcome


if __name__ == "__main__":
    base.serve(act)
