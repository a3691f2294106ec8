"""
A coordinator that only copies frames, for the lower limit of a coordinator's cost.

``python -m benchmarks.floor --ready-file FILE`` listens like our proxy and answers the clients of
:mod:`benchmarks.generator` with the same frames. It has our WebSocket server and no core: it copies
parts of the JSON without parsing them, checks and records nothing, and finds the route of a request
by a part of the URL that the loads give it. The difference to our proxy is the cost of our core.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.web.resource import Resource
from twisted.web.server import Site

from trafficmock.server.websocket.data_frames import text_frame
from trafficmock.server.websocket.oversized_frames import OversizedMessage
from trafficmock.server.websocket.upgrade import Link, WebSocketLimits, websocket_resource

_START = b'{"type":"request:start"'
_RESULT = b'{"type":"handler:result"'
_REQUEST_ID = re.compile(rb'"requestId":"([^"]+)"')
_PATH = re.compile(r"t\d+/r\d+")
_PATH_IN_URL = re.compile(rb'"url":"http://[^/]+/(t\d+/r\d+)/')
_RESPONSE = b',"response":'


@define(eq=False)
class _Worker:
    """A worker connection, and the number of its tests, each of which answers a claim."""

    link: Link
    tests: int = 0


@define(eq=False)
class _Route:
    """A route, and the number of its requests that wait for their test's decision."""

    worker: _Worker
    ids: bytes
    busy: int = 0


@define(eq=False)
class _Request:
    """An undecided request: its announcement, and the number of missing answers to its claim."""

    payload: bytes
    route: _Route
    missing: int


@define(eq=False)
class BareCoordinator:
    """Handles the messages of all connections that the loads send, and no others."""

    agent: Link | None = None
    workers: dict[Link, _Worker] = field(factory=dict)
    routes: dict[bytes, _Route] = field(factory=dict)
    waiting: dict[bytes, _Request] = field(factory=dict)

    def link_opened(self, link: Link) -> None:
        """Do nothing: ``hello`` comes next."""

    def link_received(self, link: Link, payload: bytes) -> None:
        """Answer a message by its type, which is the first field."""
        if payload.startswith(_START):
            self._start(link, payload)
        elif payload.startswith(b'{"type":"request:claim-result"'):
            self._claimed(_id(payload))
        elif payload.startswith(_RESULT):
            self._settle(payload)
        elif not payload.startswith(b'{"type":"request:response"'):
            self._set_up(link, json.loads(payload))

    def link_overlong(self, link: Link, message: OversizedMessage) -> None:
        """Do nothing: no load sends such a message."""

    def link_closed(self, link: Link) -> None:
        """Remove a worker and its routes."""
        worker = self.workers.pop(link, None)
        self.routes = {
            path: each for path, each in self.routes.items() if each.worker is not worker
        }

    def link_backlogged(self, link: Link) -> None:
        """Do nothing: there is no flow control."""

    def link_drained(self, link: Link) -> None:
        """Do nothing: there is no flow control."""

    def _start(self, link: Link, payload: bytes) -> None:
        self.agent = link
        rest = payload[len(_START) :]
        if self.workers:
            observed = text_frame(b'{"type":"request:observed"' + rest)
            for observer in self.workers:
                observer.defer(observed)
        found = _PATH_IN_URL.search(payload)
        route = self.routes.get(found[1]) if found else None
        request_id = _id(payload)
        if route is None:
            link.send(text_frame(b'{"type":"decision:passthrough","requestId":"%b"}' % request_id))
            return
        self.waiting[request_id] = _Request(rest, route, route.worker.tests)
        if route.busy:
            route.worker.link.send(text_frame(b'{"type":"request:claim"' + rest))
        else:
            self._match(self.waiting[request_id])

    def _claimed(self, request_id: bytes) -> None:
        request = self.waiting[request_id]
        request.missing -= 1
        if not request.missing:
            self._match(request)

    def _match(self, request: _Request) -> None:
        route = request.route
        route.busy += 1
        matched = b'{"type":"request:matched",%b%b' % (route.ids, request.payload)
        route.worker.link.send(text_frame(matched))

    def _settle(self, payload: bytes) -> None:
        request_id = _id(payload)
        self.waiting.pop(request_id).route.busy -= 1
        response = payload[payload.index(_RESPONSE) : -1]
        head = b'"requestId":"%b"' % request_id
        if self.agent is not None:
            self.agent.send(text_frame(b'{"type":"decision:fulfill",%b%b' % (head, response)))
        told = text_frame(b'{"type":"request:response","ok":true,%b%b' % (head, response))
        for observer in self.workers:
            observer.defer(told)

    def _set_up(self, link: Link, message: dict[str, Any]) -> None:
        kind = message["type"]
        answer: dict[str, Any] = {"type": "pong", "at": message.get("at")}
        if kind == "hello":
            link.welcome()
            if message["role"] == "playwright":
                self.workers[link] = _Worker(link)
            answer = {"type": "hello:ok", "connectionId": "c", "clientId": message["clientId"]}
        elif kind == "test:register":
            self.workers[link].tests += 1
            answer = {"type": "test:registered", "testId": message["testId"]}
        elif kind == "route:register":
            self._add_route(self.workers[link], message)
            answer = {"type": "route:registered", "routeId": message["routeId"]}
        link.send(text_frame(json.dumps(answer).encode()))

    def _add_route(self, worker: _Worker, message: dict[str, Any]) -> None:
        found = _PATH.search(json.dumps(message["matcher"]))
        if found is not None:
            ids = f'"routeId":"{message["routeId"]}","testId":"{message["testId"]}"'
            self.routes[found[0].encode()] = _Route(worker, ids.encode())


def _id(payload: bytes) -> bytes:
    found = _REQUEST_ID.search(payload)
    return found[1] if found else b""


def main() -> None:
    """Listen on a free loopback port, and write its URL to the ready file."""
    from twisted.internet import reactor as _reactor  # noqa: PLC0415, TID251 - a program of its own

    reactor: Any = _reactor
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ready-file", type=Path, required=True)
    # Unknown options are ignored: ``instructions`` passes options of our proxy.
    options, _ = parser.parse_known_args()
    root = Resource()
    root.putChild(
        b"ws", websocket_resource(BareCoordinator(), limits=WebSocketLimits(), reactor=reactor)
    )
    port = reactor.listenTCP(0, Site(root), interface="127.0.0.1").getHost().port
    said = json.dumps({"url": f"http://127.0.0.1:{port}", "pid": os.getpid()})
    reactor.callWhenRunning(options.ready_file.write_text, said + "\n")
    reactor.run()


if __name__ == "__main__":
    main()
