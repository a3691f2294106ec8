"""The test worker whose handler answers the mocked load."""

from __future__ import annotations

import json

from benchmarks.forward.loads import MOCKED_HOST, SMALL_BYTES
from benchmarks.generator import messages
from benchmarks.generator.clients import Client
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.frames import client_frame
from benchmarks.generator.loads import body
from benchmarks.generator.messages import Incoming

_TEST, _ROUTE = "forward-test", "forward-route"


class Mocker(Client):
    """
    A test worker with one test and one route, which fulfils.

    :param loop: the generator's event loop.
    :param address: host and port of the proxy.
    """

    def __init__(self, loop: EventLoop, address: tuple[str, int]) -> None:
        answer = messages.fulfill(body(SMALL_BYTES))
        self._before, self._after = json.dumps(answer).split(messages.ID_HOLE)
        claim = messages.claim_result(_TEST, [_ROUTE])
        self._claim_before, self._claim_after = json.dumps(claim).split(messages.ID_HOLE)
        super().__init__(loop, address, "playwright", "playwright-0")
        self.link.send_message(
            {
                "type": "test:register",
                "testId": _TEST,
                "title": "the mocked load",
                "file": "tests/mocked.py",
                "workerId": "0",
            }
        )
        self.link.send_message(
            {
                "type": "route:register",
                "routeId": _ROUTE,
                "testId": _TEST,
                "matcher": {"urlGlob": f"http://{MOCKED_HOST}/**"},
                "kind": "http",
            }
        )
        self._wait_for_acks(2)

    def _handle(self, message: Incoming) -> None:
        if message.type == "request:claim":
            self._send(self._claim_before, message.request_id, self._claim_after)
        elif message.type == "request:matched":
            self._send(self._before, message.request_id, self._after)

    def _send(self, before: str, request_id: str, after: str) -> None:
        self.link.send(client_frame((before + request_id + after).encode("ascii")))
