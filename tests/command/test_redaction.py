"""No secret of the traffic is in what a command prints or writes."""

from __future__ import annotations

import atexit
import functools
import gzip
import json
from base64 import b64decode, b64encode
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from attrs import define

from tests.command.recorded_proxy import CommandTestCase
from tests.command.traffic import Traffic, body
from tests.support.processes.proxy_process import NO_PINGS, ProxyProcess, running_proxy

SECRET = "zq7Xw2Lk9Vb4Np"
URL = f"https://u:{SECRET}@h.example/charges?api_key={SECRET}&page=1#token={SECRET}"
HEADERS = {
    "authorization": f"Bearer {SECRET}",
    "cookie": f"theme=dark; sid={SECRET}",
    "x-api-key": SECRET,
    "referer": f"https://h.example/?token={SECRET}",
    "x-customer": "ada@example.test",
}
JSON = json.dumps({"password": SECRET, "deep": [{"note": f"Bearer {SECRET}"}], "user": "ada"})
BODIES = {
    "application/json": JSON,
    "application/x-www-form-urlencoded": f"user=ada&password={SECRET}",
    "multipart/form-data; boundary=b": "--b\r\ncontent-disposition: form-data; "
    f'name="token"\r\n\r\n{SECRET}\r\n--b--\r\n',
    "text/event-stream": f"data: {JSON}\n\n",
    "text/plain": f"see https://u:{SECRET}@h.example, sk_live_{SECRET}",
}


@define
class SecretTraffic:
    """Traffic with one secret everywhere."""

    traffic: Traffic

    @classmethod
    def at(cls, url: str) -> SecretTraffic:
        made = cls(Traffic.at(url))
        for number, (kind, content) in enumerate(BODIES.items()):
            made.exchange(f"p{number}", kind, body(content))
        coded = b64encode(gzip.compress(JSON.encode())).decode()
        made.exchange("gz", "application/json", coded, {"content-encoding": "gzip"})
        made.fail_upstream()
        made.socket()
        return made

    def exchange(
        self, request_id: str, kind: str, content: str, more: dict[str, str] | None = None
    ) -> None:
        head = {**HEADERS, "content-type": kind, **(more or {})}
        sent = {"url": URL, "method": "POST", "headers": head, "bodyBase64": content}
        self.traffic.start(request_id, sent)
        self.traffic.decision(request_id)
        answer = {"set-cookie": f"sid={SECRET}; Path=/", "location": URL, **head}
        self.traffic.report(
            request_id,
            {"status": 200, "statusText": "OK", "headers": answer, "bodyBase64": content},
        )

    def fail_upstream(self) -> None:
        url = URL.replace("charges", "other")
        sent = {"url": url, "method": "GET", "headers": HEADERS, "bodyBase64": None}
        self.traffic.start("failed", sent)
        self.traffic.decision("failed")
        error = {"name": "Error", "message": f"connect {url}: refused, token={SECRET}"}
        self.traffic.agent.send(type="request:response", requestId="failed", ok=False, error=error)

    def socket(self) -> None:
        url = f"wss://chat.example/room?token={SECRET}"
        agent, worker = self.traffic.agent, self.traffic.worker
        agent.send(type="ws:connection", socketId="ws-1", url=url, protocols=[], clientId="shop")
        self.traffic.until(worker, "ws:matched", socketId="ws-1")
        worker.send(type="ws:ensureOpened", socketId="ws-1")
        for data, binary in ((JSON, False), (body(JSON), True)):
            agent.send(type="ws:messageFromPage", socketId="ws-1", data=data, isBase64=binary)
            self.traffic.until(worker, "ws:messageFromPage")
        self.traffic.settled()


@functools.cache
def secret_proxy() -> tuple[ProxyProcess, SecretTraffic]:
    """Start a proxy with such traffic, or give the one that runs; its connections stay open."""
    ending = ExitStack()
    proxy = ending.enter_context(running_proxy(*NO_PINGS, "--redact", "json:**.user"))
    atexit.register(ending.close)
    return proxy, SecretTraffic.at(proxy.url)


class SecretTests(CommandTestCase):
    """What commands print and write of it."""

    def setUp(self) -> None:
        self.proxy, _ = secret_proxy()
        self.environment = {"TRAFFICMOCK_PROXY_URL": self.proxy.url}

    def printed(self, *words: str) -> str:
        done = self.run_command(*words)
        self.assertEqual(done.status, 0, done)
        return done.out + done.err

    def test_none(self) -> None:
        """Tables, pages, JSON and HARs have marks, and the fields of ``--redact`` of the proxy."""
        texts = [
            self.printed("history"),
            self.printed("history", "--all", "--full", "--json"),
            self.printed("ws"),
            self.printed("ws", "--full", "--json"),
            self.printed("har", "--failed"),
            json.dumps(self.proxy.get("/api/history/p0/har")),
        ]
        for entry in (*(f"p{number}" for number in range(len(BODIES))), "gz", "failed", "ws-1"):
            texts += [
                self.printed("show", entry),
                self.printed("show", entry, "--full"),
                self.printed("show", entry, "--json"),
            ]
        hidden = (SECRET, body(JSON), b64encode(SECRET.encode()).decode())
        for text in texts:
            for secret in hidden:
                self.assertNotIn(secret, text)
        self.assertIn("[redacted:", texts[0])
        self.assertNotIn('"user": "ada"', self.printed("show", "p0", "--json"))
        coded = self.entry("gz")["request"]["bodyBase64"]
        self.assertIn(b"redacted", gzip.decompress(b64decode(coded)))
        self.assertNotIn(SECRET, self.proxy.written())

    def entry(self, entry_id: str, *words: str) -> dict[str, Any]:
        shown = json.loads(self.printed("show", entry_id, "--json", *words))
        entry: dict[str, Any] = shown["entry"]
        return entry

    def test_marks(self) -> None:
        """The same secret has the same mark in the output of all commands of one proxy."""
        header = self.entry("p0")["request"]["headers"]
        self.assertEqual(header["authorization"], f"Bearer {header['x-api-key']}")
        self.assertIn(header["x-api-key"], self.printed("har"))
        self.assertIn(header["x-api-key"], self.printed("history"))

    def test_fields(self) -> None:
        """``--redact`` of a command adds fields, or shows all as it was."""
        self.assertIn("ada@example.test", self.printed("show", "p0"))
        for words in (("show", "p0"), ("har",), ("history", "--full", "--json")):
            more = self.printed(*words, "--redact", "header:x-customer")
            self.assertNotIn("ada@example.test", more)
            self.assertNotIn(SECRET, more)
            self.assertIn(SECRET, self.printed(*words, "--redact", "off"))
        done = self.run_command("show", "p0", "--redact", "x-customer")
        self.assertEqual(done.status, 2)
        self.assertIn("'x-customer' is none of header:NAME", done.err)
        for words in (("har",), ("show",)):
            done = self.run_command(*words, "--redact", "off", "--redact", "header:a")
            self.assertEqual(done.status, 2)
            self.assertIn("--redact: off goes with no other field", done.err)

    def test_file(self) -> None:
        """A file is written without them."""
        path = Path(self.mktemp())
        self.printed("har", "--output", str(path))
        self.assertNotIn(SECRET, path.read_text())
