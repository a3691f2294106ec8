"""urllib3, which gets its proxy from the program: it reads no environment."""

import os
import ssl
from typing import Any
from urllib.parse import urlsplit

import urllib3

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order, answer


def _manager() -> urllib3.PoolManager:
    if "HTTP_PROXY" not in os.environ:
        return urllib3.PoolManager(retries=False)
    proxy = urlsplit(os.environ["HTTP_PROXY"])
    return urllib3.ProxyManager(
        f"http://{proxy.hostname}:{proxy.port}",
        proxy_headers=urllib3.make_headers(proxy_basic_auth=f"{proxy.username}:{proxy.password}"),
        ssl_context=ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"]),
        retries=False,
    )


_MANAGER = _manager()


def act(order: Order) -> dict[str, Any]:
    if order.mode == "ws":
        raise NotAvailableError("it has no WebSocket client")
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
        timeout=base.SECONDS,
    )
    if order.mode == "sse":
        return base.events(response, lambda: _MANAGER.request("GET", order.following_url))
    outcome = answer(response.status, response.headers.items(), response.stream(65536))
    response.release_conn()
    return outcome


if __name__ == "__main__":
    base.serve(act)
