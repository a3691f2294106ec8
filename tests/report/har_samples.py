"""Entries of HARs, as browsers write them, and two whole ones of real programs.

``tests/data/har`` has what Playwright's ``recordHar`` wrote of Chromium, and what mitmproxy wrote
(``hardump``): a page or picture, a call with JSON and secrets, and a server that cannot be reached.
"""

from base64 import b64encode
from pathlib import Path
from typing import Any

REAL = {path.stem: path for path in (Path(__file__).parents[1] / "data" / "har").glob("*.har")}

ENTRY: dict[str, Any] = {
    "startedDateTime": "2026-11-25T12:00:00.000Z",
    "time": 12.6,
    "request": {
        "method": "POST",
        "url": "https://h.test/a?b=c",
        "headers": [
            {"name": ":authority", "value": "h.test"},
            {"name": "accept", "value": "a"},
            {"name": "accept", "value": "b"},
        ],
        "postData": {"mimeType": "text/plain", "text": "sent"},
    },
    "response": {
        "status": 200,
        "statusText": "OK",
        "headers": [{"name": "content-type", "value": "image/png"}],
        "content": {"size": 3, "text": b64encode(b"\x00\x01\x02").decode(), "encoding": "base64"},
    },
}
FAILED = {
    "startedDateTime": "2026-11-25T12:00:01+00:00",
    "time": 3,
    "request": {"method": "GET", "url": "http://gone.test/", "headers": []},
    "response": {"status": 0, "content": {}, "_error": "net::ERR_CONNECTION_REFUSED"},
}
SOCKET = {
    "startedDateTime": "2026-11-25T12:00:02Z",
    "request": {"method": "GET", "url": "wss://h.test/ws", "headers": []},
    "response": {"status": 101},
    "_webSocketMessages": [
        {"type": "send", "time": 1795608002.5, "opcode": 1, "data": "hello"},
        {"type": "receive", "time": 1795608003, "opcode": 2, "data": "AAE="},
    ],
}
HAR = {"log": {"creator": {"name": "WebInspector"}, "entries": [ENTRY, FAILED, SOCKET]}}
