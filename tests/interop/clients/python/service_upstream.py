"""What the services answer, by path."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

_MODEL = {"id": "m", "object": "model", "created": 1, "owned_by": "o"}
_CHUNK = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "hello"}, "finish_reason": None}],
}
_MESSAGE = {
    "id": "msg",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
_PIECE = {"type": "content_block_delta", "index": 0}
_EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "message_start", "message": {**_MESSAGE, "content": [], "stop_reason": None}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    },
    {**_PIECE, "delta": {"type": "text_delta", "text": "hel"}},
    {**_PIECE, "delta": {"type": "text_delta", "text": "lo"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
)
"""What Anthropic's server sends for a streamed message."""

ANSWERS = {
    "/stripe/v1/customers/": (200, {"id": "cus_1", "object": "customer", "name": "Ada"}),
    "/openai/models": (200, {"object": "list", "data": [_MODEL]}),
    "/anthropic/": (200, _MESSAGE),
    "/slack/": (200, {"ok": True, "channel": "C1", "ts": "1.1"}),
    "/twilio/": (201, {"sid": "SM1", "status": "queued"}),
    "/google/": (200, {"id": "1", "name": "thing"}),
    "/api/1/": (200, {"id": "e"}),
    "/algolia/": (200, {"items": [], "nbPages": 1}),
}


def answer(path: str) -> tuple[int, dict[str, str], str]:
    """Give status, headers and body for a path."""
    if path == "/plain":
        return 200, {"content-type": "text/plain"}, "plain"
    if path.startswith("/s3/"):
        return 200, {"content-type": "text/plain", "etag": '"e"'}, "content"
    if path.endswith("/chat/completions"):
        events = [f"data: {json.dumps(_CHUNK)}\n\n"] * 3 + ["data: [DONE]\n\n"]
        return 200, {"content-type": "text/event-stream"}, "".join(events)
    if path.startswith("/anthropic/streamed/"):
        events = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _EVENTS]
        return 200, {"content-type": "text/event-stream"}, "".join(events)
    for start, (status, body) in ANSWERS.items():
        if path.startswith(start):
            return status, {"content-type": "application/json"}, json.dumps(body)
    return 404, {"content-type": "application/json"}, '{"error": "not known"}'


class Services(BaseHTTPRequestHandler):
    """All of them on one port."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            self._skip_chunks()
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, body = answer(self.path)
        if self.command == "PUT":
            body = ""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def _skip_chunks(self) -> None:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            self.rfile.read(size + 2)
        while self.rfile.readline().strip():
            continue

    do_GET = do_POST = do_PUT = _answer  # noqa: N815 - the library's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Keep quiet."""
