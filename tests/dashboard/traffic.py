"""A day at a shop in a few seconds: traffic of every kind, as the dashboard is to show it."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from tests.dashboard.clients import as_json, b64, request, response

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dashboard.clients import Agent, ProxyClients, Worker

BUYS = ("buys a teapot with a card", "tests/checkout.spec.ts")
DECLINED = ("says so when the card is declined", "tests/checkout.spec.ts")
SEARCH = ("finds teapots by colour", "tests/search.spec.ts")
CHAT = ("talks to support", "tests/chat.spec.ts")
PAY = "https://api.pay.example/v1/charges"
STOCK = "https://stock.example/items"
CHARGE = {"amount": 4200, "currency": "EUR", "card": {"number": "4242…", "exp": "12/30"}}
RECEIPT = {
    "id": "ch_3PqZ8s2eZvKYlo2C",
    "object": "charge",
    "amount": 4200,
    "balance": 12345678901234567890,
    "paid": True,
    "refunded": None,
    "billing": {"name": "Ada Lovelace", "address": {"city": "London", "lines": ["12 St", "James"]}},
    "receipts": [{"kind": "mail", "to": "ada@example.org"}, {"kind": "print", "copies": 2}],
}


def png(width: int = 96, height: int = 64) -> bytes:
    """Draw a picture."""
    rows = b"".join(
        b"\0"
        + b"".join(bytes((40 + 2 * x % 200, 90 + y * 2 % 160, 160 - x % 100)) for x in range(width))
        for y in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def nothing(_: float) -> None:
    """Do not wait."""


def checkout(shop: Agent, worker: Worker, pause: Callable[[float], None]) -> None:
    """Let a test decide: fulfill, continue with changes, abort."""
    buys = worker.test(*BUYS)
    worker.route(buys, urlGlob="**/v1/charges", methods=["POST"])
    worker.route(buys, urlGlob="https://stock.example/**")
    auth = {"authorization": "Bearer sk_test_51", "content-type": "application/json"}
    pause(0.12)
    worker.answers(
        shop,
        request(PAY, "POST", headers=auth, body=as_json(CHARGE)),
        action="fulfill",
        response=response(201, as_json(RECEIPT)),
    )
    asked = request(
        f"{STOCK}/teapot?warehouse=eu-1&fields=count,price",
        "PUT",
        headers={"content-type": "application/json", "x-tenant": "live", "cookie": "s=1"},
        body=as_json({"reserve": 1, "for": "basket-17"}),
    )
    changed = {
        "url": f"{STOCK}/teapot?warehouse=test-9&fields=count,price",
        "method": "POST",
        "headers": {"content-type": "application/json", "x-tenant": "test", "x-dry-run": "1"},
        "bodyBase64": b64(as_json({"reserve": 1, "for": "basket-17", "dryRun": True})),
    }
    pause(0.08)
    changed_id = worker.answers(shop, asked, action="continue", overrides=changed)
    pause(0.21)
    shop.report(changed_id, response(200, as_json({"item": "teapot", "count": 3})))
    declined = worker.test(*DECLINED)
    worker.route(declined, urlGlob="**/v1/fraud/check*")
    worker.answers(
        shop,
        request("https://api.pay.example/v1/fraud/check?card=4242", headers=auth),
        action="abort",
        errorCode="connectionrefused",
    )


def network(shop: Agent, mail: Agent, pause: Callable[[float], None]) -> None:
    """Make what no test wants: it goes out."""
    html = "<!doctype html><h1>It works</h1><script>alert(1)</script>"
    shop.passes(
        request("https://cdn.example/img/teapot-blue.png"), response(200, png(), "image/png")
    )
    shop.passes(
        request("https://www.example.org/"), response(200, html, "text/html; charset=utf-8")
    )
    pause(0.3)
    form = "to=ada%40example.org&subject=Your+teapot&body=On+its+way%21"
    mail.passes(
        request(
            "https://mail.example/v3/send",
            "POST",
            headers={"content-type": "application/x-www-form-urlencoded"},
            body=form,
        ),
        response(202, as_json({"queued": True})),
    )
    mail.passes(
        request(
            "https://metrics.example/collect?v=2&tid=UA-1", "POST", body=b"\0\1\2binary\xff" * 9
        ),
        response(204, None, "text/plain"),
    )
    shop.passes(
        request("https://down.example/v1/status"), None, "ECONNREFUSED connect 10.0.0.9:443"
    )
    shop.passes(
        request("https://api.pay.example/v1/rates?base=EUR"), response(404, '{"error":"x"}')
    )
    shop.passes(
        request("https://stock-eu.example/feed"), response(500, "upstream fell over", "text/plain")
    )
    pause(0.1)
    events = "".join(f'event: price\ndata: {{"teapot": {42 + n}}}\n\n' for n in range(6))
    shop.passes(
        request("https://stream.example/prices"), response(200, events, "text/event-stream")
    )


def redirects(shop: Agent, pause: Callable[[float], None]) -> str:
    """Three hops; give the first one's id."""
    start = "https://short.example/t/4F2"
    first = shop.passes(request(start), response(302, None, location="https://shop.example/teapot"))
    pause(0.05)
    second = shop.hop(
        first,
        request("https://shop.example/teapot"),
        response(301, None, location="https://www.shop.example/en/teapot"),
    )
    pause(0.05)
    shop.hop(
        second,
        request("https://www.shop.example/en/teapot"),
        response(200, "<h1>Teapot</h1>", "text/html"),
    )
    return first


def trouble(shop: Agent, one: Worker, other: Worker) -> None:
    """Two tests want the same, and a handler that breaks."""
    first = one.test(*SEARCH)
    second = other.test("filters by price", "tests/search.spec.ts")
    one.route(first, urlGlob="https://search.example/**", methods=["GET"])
    other.route(second, urlRegex={"source": r"search\.example/v\d", "flags": "i"})
    asked = shop.start(request("https://search.example/v2/query?q=teapot&colour=blue"))
    shop.decided(asked)
    broken = one.test("survives a strange answer", "tests/odd.spec.ts")
    one.route(broken, urlGlob="https://odd.example/**")
    one.answers(
        shop,
        request("https://odd.example/x"),
        action="abort",
        errorCode="failed",
        message="TypeError: cannot read properties of undefined (reading 'items')",
    )


def claimed_socket(shop: Agent, worker: Worker, test_id: str, url: str, glob: str) -> str:
    """Open a WebSocket that a test takes; give its id."""
    route_id = worker.route(test_id, kind="websocket", urlGlob=glob)
    socket = shop.group.new_id("sock")
    shop.client.send(
        "ws:connection", socketId=socket, url=url, protocols=["chat.v2"], clientId=shop.client_id
    )
    worker.client.until("ws:claim", socketId=socket)
    matches = [{"routeId": route_id}]
    worker.client.send("ws:claim-result", socketId=socket, testId=test_id, matches=matches)
    worker.client.until("ws:matched", socketId=socket)
    return socket


def sockets(shop: Agent, worker: Worker, pause: Callable[[float], None]) -> None:
    """Open WebSockets: a test plays and closes one, one stays open, one passes."""
    chat = worker.test(*CHAT)
    url = "wss://support.example/chat?room=17"
    socket = claimed_socket(shop, worker, chat, url, "wss://support.example/**")
    worker.client.send("ws:ensureOpened", socketId=socket)
    shop.client.until("ws:ensureOpened")
    lines = [
        ("app", as_json({"type": "join", "room": 17, "user": {"id": 9, "name": "Ada"}})),
        ("test", as_json({"type": "welcome", "agents": ["Grace"], "queue": 0})),
        ("app", "Is the blue teapot dishwasher safe?"),
        ("test", as_json({"type": "typing", "who": "Grace"})),
        ("test", "It is. Mind the lid."),
    ]
    for who, data in lines:
        pause(0.15)
        if who == "app":
            shop.client.send("ws:messageFromPage", socketId=socket, data=data, isBase64=False)
            worker.client.until("ws:messageFromPage")
        else:
            worker.client.send("ws:sendToPage", socketId=socket, data=data, isBase64=False)
            shop.client.until("ws:sendToPage")
    shop.client.send(
        "ws:messageFromPage", socketId=socket, data=b64(bytes(range(48))), isBase64=True
    )
    worker.client.until("ws:messageFromPage")
    worker.client.send("ws:closePage", socketId=socket, code=1000, reason="bye", wasClean=True)
    shop.client.until("ws:closePage")
    open_one = claimed_socket(
        shop, worker, chat, "wss://prices.example/live", "wss://prices.example/**"
    )
    worker.client.send("ws:sendToPage", socketId=open_one, data='{"teapot":42}', isBase64=False)
    shop.client.until("ws:sendToPage")
    passing = shop.group.new_id("sock")
    shop.client.send(
        "ws:connection",
        socketId=passing,
        url="wss://push.example/socket",
        protocols=[],
        clientId=shop.client_id,
    )
    shop.client.until("ws:passthrough", socketId=passing)


def day(group: ProxyClients, pause: Callable[[float], None] = nothing) -> None:
    """Make all traffic. Clients and tests stay connected until ``clients`` closes.

    :param pause: waits so many seconds between things, for pictures with real times.
    """
    shop = group.agent("shop", pid=4121, command="node server.js --port 3000")
    mail = group.agent("mail-worker")
    one = group.worker("0", pid=4190, command="node playwright/worker.js")
    other = group.worker("1")
    network(shop, mail, pause)
    redirects(shop, pause)
    checkout(shop, one, pause)
    trouble(shop, one, other)
    sockets(shop, other, pause)
    # Else the proxy takes the open WebSocket from its test: see "--claim-timeout-ms".
    other.client.answer_pings()
    held = one.test("waits for the bank", "tests/bank.spec.ts")
    one.route(held, urlGlob="https://bank.example/**")
    shop.start(request("https://bank.example/v2/transfers", "POST", body=as_json({"to": "x"})))
    one.client.until("request:matched")
    shop.settled()
    mail.settled()
