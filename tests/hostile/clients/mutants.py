"""Valid sessions whose bytes are damaged at random."""

import json
from random import Random
from typing import Any

from tests.hostile.case import hello, request, test
from tests.hostile.clients.frames import BINARY, CONTINUATION, PING, frame
from tests.hostile.clients.raw import HANDSHAKE

_ROUTE = {"routeId": "fuzz", "testId": "fuzz", "matcher": {"clientIds": ["fuzz"]}}
_FILTER = b'"matcher":{"clientIds":["fuzz"]}'
_WAIT = {"waitId": "w", "testId": "fuzz", "matcher": {"clientIds": ["fuzz"]}}
_RESPONSE = {"status": 200, "statusText": "OK", "headers": {"a": "b"}, "bodyBase64": "eA=="}
_SOCKET = {"type": "ws:connection", "socketId": "s", "url": "ws://fuzz.test/", "protocols": []}
_FRAME = {"socketId": "s", "data": "x", "isBase64": False}


def agent_session() -> list[dict[str, Any]]:
    """Give the messages of an agent that does everything once."""
    report = {"requestId": "r1", "ok": True, "response": _RESPONSE}
    return [
        hello(clientId="fuzz"),
        {"type": "pong", "at": 1},
        request("r1", "fuzz"),
        request("r2", "fuzz", method="POST", bodyBase64="eA=="),
        {"type": "request:response"} | report,
        {"type": "request:observe", "redirectedFromRequestId": "r1"}
        | {key: value for key, value in request("r3", "fuzz").items() if key != "type"},
        {"type": "fetch:result", "fetchId": "f"} | report,
        {"type": "request:cancel", "requestId": "r2", "reason": "why not"},
        _SOCKET | {"clientId": "fuzz"},
        {"type": "ws:messageFromPage"} | _FRAME,
        {"type": "ws:messageFromServer"} | _FRAME,
        {"type": "ws:closePage", "socketId": "s", "wasClean": True, "code": 1000},
        {"type": "agent:error", "message": "oh", "detail": [1, {"a": None}]},
        {"type": "ping", "at": 2.5},
    ]


def worker_session() -> list[dict[str, Any]]:
    """Give the messages of a worker that does everything once."""
    settled = {"type": "handler:result", "requestId": "r1"}
    return [
        hello("playwright", clientId="fuzz", workerId="1", features=["warnings"]),
        test("fuzz"),
        {"type": "wait:register", "kind": "request", "timeoutMs": 10} | _WAIT,
        {"type": "wait:judged", "waitId": "w", "requestId": "r1", "met": False},
        {"type": "wait:cancel", "waitId": "w"},
        {"type": "route:register"} | _ROUTE,
        {"type": "route:register", "kind": "websocket"} | _ROUTE | {"routeId": "fuzz-ws"},
        {"type": "request:claim-result", "requestId": "r1", "testId": "fuzz", "matches": []},
        settled | {"result": {"action": "fetch", "fetchId": "f", "maxRedirects": 3}},
        settled | {"result": {"action": "fulfill", "response": _RESPONSE}},
        settled | {"result": {"action": "continue", "overrides": {"url": "http://fuzz.test/"}}},
        settled | {"result": {"action": "abort", "errorCode": "failed"}},
        {"type": "ws:claim-result", "socketId": "s", "testId": "fuzz", "matches": []},
        {"type": "ws:ensureOpened", "socketId": "s"},
        {"type": "ws:sendToPage"} | _FRAME,
        {"type": "history:query", "queryId": "q", "matcher": {"urlGlob": "**"}},
        {"type": "glob:query", "queryId": "g", "glob": "{a,b}*", "baseUrl": "http://a.test/"},
        {"type": "redact:query", "queryId": "p", "texts": ["a"]},
        {"type": "report:query", "queryId": "p", "bodyBytes": 10, "texts": ["token=x"]},
        {"type": "report:make", "queryId": "p", "bodyBase64": "e30K"},
        {"type": "recording:query", "queryId": "p", "testId": "fuzz", "routeId": "r"},
        {"type": "route:unregister", "testId": "fuzz"},
        {"type": "test:unregister", "testId": "fuzz"},
    ]


def mutant(chance: Random) -> bytes:
    """Make a damaged session: all that one client sends, its handshake included."""
    messages = chance.choice((agent_session, worker_session))()
    _reorder(messages, chance)
    pieces = [_frame(_damaged(message, chance), chance) for message in messages]
    stream = HANDSHAKE + b"".join(pieces)
    if chance.random() < 0.2:
        flipped = _flipped(stream, chance, 3)
        return flipped if flipped.count(_FILTER) == stream.count(_FILTER) else stream
    if chance.random() < 0.2:
        return stream[: chance.randrange(len(stream))]
    return stream


def _reorder(messages: list[dict[str, Any]], chance: Random) -> None:
    for _ in range(chance.randrange(4)):
        at, other = chance.randrange(len(messages)), chance.randrange(len(messages))
        match chance.randrange(3):
            case 0:
                messages[at], messages[other] = messages[other], messages[at]
            case 1:
                messages.insert(at, messages[other])
            case _ if len(messages) > 1:
                del messages[at]


def _damaged(message: dict[str, Any], chance: Random) -> bytes:
    payload = json.dumps(message, separators=(",", ":")).encode()
    if chance.random() < 0.7:
        return payload
    damaged = _flipped(payload, chance, chance.choice((1, 1, 2, 8)))
    return damaged if _concerns_nobody_else(damaged) else payload


def _flipped(data: bytes, chance: Random, most: int) -> bytes:
    """Change, insert or leave out some bytes."""
    flipped = bytearray(data)
    for _ in range(chance.randint(1, most)):
        at = chance.randrange(len(flipped))
        match chance.randrange(4):
            case 0:
                flipped[at] ^= 1 << chance.randrange(8)
            case 1:
                flipped[at] = chance.choice(b'"{}[]:,\\0123456789eE-.ntf\x00\xff')
            case 2:
                flipped[at:at] = chance.randbytes(chance.randint(1, 4))
            case _:
                del flipped[at : at + chance.randint(1, 4)]
    return bytes(flipped)


def _concerns_nobody_else(payload: bytes) -> bool:
    """Tell whether a damaged message leaves the well-behaved clients alone.

    A route without its filter is valid, and rightly makes ambiguous what they ask.
    """
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError):
        return True
    if not isinstance(message, dict) or message.get("type") != "route:register":
        return True
    return bool(message.get("matcher") == _ROUTE["matcher"])


def _frame(payload: bytes, chance: Random) -> bytes:
    cut = chance.randrange(len(payload) + 1)
    match chance.randrange(40):
        case 0:
            return frame(payload, opcode=BINARY)
        case 1:
            rest = frame(payload[cut:], opcode=CONTINUATION)
            return frame(payload[:cut], fin=False) + frame(b"?", opcode=PING) + rest
        case 2:
            return frame(payload, opcode=chance.randrange(16), fin=chance.random() < 0.5)
        case 3:
            return frame(payload, reserved=chance.randrange(8), masked=chance.random() < 0.8)
        case 4:
            return frame(payload, length=chance.choice((cut, len(payload) + 1, 1 << 40)))
    return frame(payload)
