"""Real traffic through a real proxy: an agent and a worker that do every kind of thing once."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from attrs import define

from tests.support.raw_client import RawClient

HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\n\u202etxt.exe\x9b31m"
"""What must not reach a terminal: a title, a clearing, a line, a reversal, a C1 sequence."""

JSON = {"content-type": "application/json"}


def body(text: str | bytes) -> str:
    return b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def request(url: str, method: str = "GET", content: str | bytes | None = None) -> dict[str, Any]:
    encoded = None if content is None else body(content)
    headers = {"accept": "*/*"} | (JSON if content else {})
    return {"url": url, "method": method, "headers": headers, "bodyBase64": encoded}


def response(status: int, content: str | bytes = "", **headers: str) -> dict[str, Any]:
    return {
        "status": status,
        "statusText": {200: "OK", 302: "Found", 402: "Payment Required"}[status],
        "headers": {name.replace("_", "-"): value for name, value in headers.items()},
        "bodyBase64": body(content),
    }


@define
class Traffic:
    """An agent and a worker with two tests."""

    agent: RawClient
    worker: RawClient

    @classmethod
    def at(cls, url: str) -> Traffic:
        agent, worker = RawClient.connect(url), RawClient.connect(url)
        agent.hello("node", clientId="shop", pid=4711, command=f"node {HOSTILE} server.js")
        worker.hello("playwright", clientId="worker-0", workerId="0")
        for test, title in (("t1", "pays with a card"), ("t2", "日本語のテスト")):
            file = f"tests/{test}.spec.ts"
            worker.send(type="test:register", testId=test, title=title, file=file, workerId="0")
        for route, test, glob, kind in (
            ("r1", "t1", "**/charges", "http"),
            ("r2", "t1", "**/both", "http"),
            ("r3", "t2", "**/both", "http"),
            ("r4", "t1", "**/login", "http"),
            ("r5", "t2", "**/broken", "http"),
            ("r6", "t1", "wss://chat.example/**", "websocket"),
        ):
            matcher = {"urlGlob": glob}
            worker.send(
                type="route:register", routeId=route, testId=test, matcher=matcher, kind=kind
            )
        made = cls(agent, worker)
        made.until(worker, "route:registered", routeId="r6")
        return made

    def until(self, client: RawClient, kind: str, **fields: Any) -> dict[str, Any]:
        """Receive until a message of this kind comes; answer what is asked on the way."""
        while True:
            message = client.receive()
            if message["type"] == "ws:claim":
                client.send(
                    type="ws:claim-result",
                    socketId=message["socketId"],
                    testId="t1",
                    matches=[{"routeId": "r6"}],
                )
            if message["type"] == "request:claim":
                for test, route in (("t1", "r2"), ("t2", "r3")):
                    client.send(
                        type="request:claim-result",
                        requestId=message["requestId"],
                        testId=test,
                        matches=[{"routeId": route}] if "both" in message["requestId"] else [],
                    )
            if message["type"] == kind and fields.items() <= message.items():
                return message

    def start(self, request_id: str, sent: dict[str, Any]) -> None:
        self.agent.send(type="request:start", requestId=request_id, clientId="shop", request=sent)

    def owned(self, request_id: str, sent: dict[str, Any], **result: Any) -> dict[str, Any]:
        """Send a request that a test decides."""
        self.start(request_id, sent)
        self.until(self.worker, "request:matched", requestId=request_id)
        self.worker.send(type="handler:result", requestId=request_id, result=result)
        return self.decision(request_id)

    def decision(self, request_id: str) -> dict[str, Any]:
        while True:
            message = self.agent.receive()
            if message.get("requestId") == request_id:
                return message

    def report(self, request_id: str, answer: dict[str, Any]) -> None:
        self.agent.send(type="request:response", requestId=request_id, ok=True, response=answer)

    def passed(self, request_id: str, url: str, answer: dict[str, Any] | None = None) -> None:
        """Send a request that nobody wants, and report what upstream said."""
        self.start(request_id, request(url))
        self.decision(request_id)
        if answer is not None:
            self.report(request_id, answer)

    def everything(self) -> Traffic:
        """Do each thing once."""
        paid = response(200, '{"receipt": "R1", "née": "日本"}', content_type="application/json")
        charge = request("https://pay.example/charges", "POST", '{"amount": 4200}')
        self.owned("fulfilled-1", charge, action="fulfill", response=paid)
        self.owned("aborted-1", charge, action="abort", errorCode="connectionrefused")
        self.passed(
            "passed-1",
            "https://cdn.example/a/long/path/to/some/picture-of-a-teapot.png?size=large",
            response(200, b"\x89PNG\r\n\x1a\n\0\xff", content_type="image/png"),
        )
        self.login()
        self.start("both-1", request("https://api.example/both"))
        self.decision("both-1")
        self.hostile()
        self.chat()
        return self.settled()

    def login(self) -> None:
        """Follow a redirect of three hops, the first of them changed by a test."""
        overrides = {"url": "https://id.example/login?mocked", "headers": {"x-test": "1"}}
        url = "https://id.example/login"
        self.owned("hop-1", request(url), action="continue", overrides=overrides)
        for at, end in ((1, "/two"), (2, "/three")):
            self.report(f"hop-{at}", response(302, location=f"https://id.example{end}"))
            self.agent.send(
                type="request:observe",
                requestId=f"hop-{at + 1}",
                clientId="shop",
                request=request(f"https://id.example{end}"),
                redirectedFromRequestId=f"hop-{at}",
            )
        self.report("hop-3", response(200, "welcome", content_type="text/plain"))

    def hostile(self) -> None:
        """Put terminal sequences everywhere a client can."""
        self.start("evil-\x1b[31m", request(f"http://evil.example/{HOSTILE}", "GET", HOSTILE))
        self.decision("evil-\x1b[31m")
        self.report("evil-\x1b[31m", response(200, HOSTILE, x_evil=HOSTILE))

    def chat(self) -> None:
        """Talk over a WebSocket that a test owns, and close it."""
        self.agent.send(
            type="ws:connection",
            socketId="chat-1",
            url="wss://chat.example/room",
            protocols=["v1"],
            clientId="shop",
        )
        self.until(self.worker, "ws:matched", socketId="chat-1")
        self.worker.send(type="ws:ensureOpened", socketId="chat-1")
        self.settled(self.worker)
        for data, binary in (("hello " + HOSTILE, False), (body(b"\x00\x01\xff"), True)):
            self.agent.send(
                type="ws:messageFromPage", socketId="chat-1", data=data, isBase64=binary
            )
            self.until(self.worker, "ws:messageFromPage")
        self.worker.send(type="ws:sendToPage", socketId="chat-1", data="hi!", isBase64=False)
        self.until(self.agent, "ws:sendToPage")
        self.agent.send(
            type="ws:closePage", socketId="chat-1", code=1000, reason="bye", wasClean=True
        )
        self.until(self.worker, "ws:closePage")

    def settled(self, client: RawClient | None = None) -> Traffic:
        """Wait until all that a client has sent has been read; two have no order between them.

        :param client: the agent by default.
        """
        client = client or self.agent
        client.send(type="ping", at=1)
        self.until(client, "pong")
        return self

    def close(self) -> None:
        """Leave."""
        self.agent.close()
        self.worker.close()
