"""treq; with a proxy over an Agent for that: Twisted has one for plain HTTP, none for CONNECT."""

import os
import sys
from base64 import b64encode
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import treq
from treq.client import HTTPClient
from twisted.internet import reactor as _reactor  # noqa: TID251 - the program's own
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.task import react
from twisted.internet.threads import deferToThread
from twisted.web.client import Agent, ProxyAgent
from twisted.web.http_headers import Headers

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order, Sum, summed

reactor: Any = _reactor
_PROXY = urlsplit(os.environ["HTTP_PROXY"]) if "HTTP_PROXY" in os.environ else None


def _credentials() -> dict[str, list[str]]:
    if _PROXY is None:
        return {}
    token = b64encode(f"{_PROXY.username}:{_PROXY.password}".encode()).decode()
    return {"Proxy-Authorization": [f"Basic {token}"]}


async def _act(client: HTTPClient, order: Order) -> dict[str, Any]:
    if order.mode == "ws":
        raise NotAvailableError("it has no WebSocket client")
    if _PROXY is not None and order.url.startswith("https:"):
        raise NotAvailableError("it has no CONNECT")
    headers = Headers(_credentials())
    for name, value in order.headers:
        headers.addRawHeader(name, value)
    response = await client.request(
        order.method,
        order.url,
        headers=headers,
        data=BytesIO(b"".join(order.pieces())) if order.streamed else order.text,
        allow_redirects=order.follow,
        unbuffered=True,
        timeout=base.SECONDS,
    )
    if order.mode == "sse":
        return await _events(client, order, response)
    total = Sum()
    # The client's own time-out is for the head.
    await treq.collect(response, total.add).addTimeout(base.SECONDS, reactor)
    pairs = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.getAllRawHeaders()
        for value in values
    ]
    return summed(response.code, pairs, total)


async def _events(client: HTTPClient, order: Order, response: Any) -> dict[str, Any]:
    seen: list[str] = []

    def take(data: bytes) -> None:
        for line in data.decode().splitlines():
            if line.startswith("data:"):
                seen.append(line[5:].strip())
                asked = Deferred.fromCoroutine(_following(client, order))
                asked.addErrback(lambda failure: seen.append(str(failure.value)))

    await treq.collect(response, take)
    return {"events": seen}


async def _following(client: HTTPClient, order: Order) -> None:
    headers = Headers(_credentials())
    response = await client.get(order.following_url, headers=headers)
    await response.content()


def _agent(clock: Any) -> Any:
    if _PROXY is None:
        return Agent(clock)
    return ProxyAgent(HostnameEndpoint(clock, _PROXY.hostname or "", _PROXY.port or 0), clock)


async def main(clock: Any) -> None:
    client = HTTPClient(_agent(clock))
    while line := await deferToThread(sys.stdin.readline):
        try:
            answer = await _act(client, Order.read(line))
        except NotAvailableError as why:
            answer = {"na": str(why)}
        except Exception as error:  # noqa: BLE001 - what the client raises is the result
            answer = base.failed(error)
        base.send(answer)


if __name__ == "__main__":
    react(lambda clock: Deferred.fromCoroutine(main(clock)))
