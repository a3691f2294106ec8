"""
The protocol-3 messages that the generator's clients send and read.

Frequent messages are templates: a message is serialised and masked once, and
sending it costs one join with the request id. So all ids have the same length.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from benchmarks.generator.frames import client_header, mask

ID_LENGTH: Final = 12
ID_HOLE: Final = "~" * ID_LENGTH


class Incoming(msgspec.Struct, rename="camel"):
    """The fields of a server's message that the clients use; others are skipped."""

    type: str
    request_id: str = ""
    run_id: str = ""
    test_id: str = ""
    code: str = ""
    message: str = ""
    at: float = 0


decode: Final = msgspec.json.Decoder(Incoming).decode


def request_id(number: int) -> str:
    """Return the id of request ``number``, of fixed length."""
    return f"{number:0{ID_LENGTH}x}"


def request_number(identifier: str) -> int:
    """Return the number in an id made by :func:`request_id`."""
    return int(identifier, 16)


class Template:
    """
    A message whose request id is filled in when it is sent.

    :param message: the message as JSON types, with :data:`ID_HOLE` in each place of the
        id, also in URLs, so that no two requests have the same one.
    """

    def __init__(self, message: dict[str, Any]) -> None:
        text = json.dumps(message, separators=(",", ":"))
        parts = text.encode("ascii").split(ID_HOLE.encode("ascii"))
        self._parts = [mask(part) for part in parts]
        self._parts[0] = client_header(len(text)) + self._parts[0]

    def frame(self, masked_id: bytes) -> bytes:
        """Build the frame to send, given the masked id."""
        return masked_id.join(self._parts)


def hello(role: str, client_id: str, features: Sequence[str] = ()) -> dict[str, Any]:
    """Return ``hello`` of the npm clients, which has no features unless some are given."""
    message: dict[str, Any] = {
        "type": "hello",
        "protocolVersion": 3,
        "packageVersion": "0.1.0",
        "role": role,
        "clientId": client_id,
    }
    if role == "playwright":
        message["workerId"] = client_id.rpartition("-")[2]
    if features:
        message["features"] = list(features)
    return message


def request_start(client_id: str, url: str, body: str | None) -> dict[str, Any]:
    """
    Return ``request:start`` with the headers that Node's ``fetch`` sends.

    :param client_id: the agent's client id.
    :param url: absolute URL, with or without :data:`ID_HOLE`.
    :param body: the request body in base64, or ``None`` for a GET without one.
    """
    headers = {
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
        "accept-language": "*",
        "sec-fetch-mode": "cors",
        "user-agent": "node",
    }
    if body is not None:
        headers |= {"content-type": "application/json", "content-length": _length(body)}
    return {
        "type": "request:start",
        "requestId": ID_HOLE,
        "clientId": client_id,
        "request": {
            "url": url,
            "method": "GET" if body is None else "POST",
            "headers": headers,
            "bodyBase64": body,
        },
    }


def response(body: str) -> dict[str, Any]:
    """Return a JSON response as agents and handlers serialise it; ``body`` is base64."""
    return {
        "status": 200,
        "statusText": "OK",
        "headers": {
            "content-type": "application/json",
            "content-length": _length(body),
            "date": "Thu, 01 Jan 2026 00:00:00 GMT",
        },
        "bodyBase64": body,
    }


def _length(body: str) -> str:
    """Return the decoded length of a base64 ``body``; the proxy would correct a wrong one."""
    return str(len(body) * 3 // 4 - body.count("="))


def response_report(body: str) -> dict[str, Any]:
    """Return ``request:response`` of an agent after a passthrough."""
    return {
        "type": "request:response",
        "requestId": ID_HOLE,
        "ok": True,
        "response": response(body),
    }


def claim_result(test_id: str, route_ids: list[str]) -> dict[str, Any]:
    """Return ``request:claim-result`` of one test; ``route_ids`` may be empty."""
    return {
        "type": "request:claim-result",
        "requestId": ID_HOLE,
        "testId": test_id,
        "matches": [{"routeId": route_id} for route_id in route_ids],
    }


def fulfill(body: str, request_id: str = ID_HOLE, run_id: str = "") -> dict[str, Any]:
    """Return ``handler:result`` with a mock.

    :param body: base64.
    :param run_id: that of ``handler:run``; npm workers have none.
    """
    run = {"runId": run_id} if run_id else {}
    return {
        "type": "handler:result",
        "requestId": request_id,
        **run,
        "result": {"action": "fulfill", "response": response(body)},
    }
