"""The output of ``trafficmock show`` for a WebSocket."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator

from trafficmock.command.output import list_columns
from trafficmock.command.output.list_columns import Entry
from trafficmock.command.output.request_page import INDENT, about_test, claimants, facts, heading
from trafficmock.command.output.terminal import Terminal
from trafficmock.command.output.terminal_text import cut
from trafficmock.texts.message_text import printable

_ARROWS = {"client": "→", "server": "←", "system": "·"}
_BEFORE_DATA = 20
_HEX_BYTES = 64


def write_socket(entry: Entry, terminal: Terminal, *, full: bool) -> None:
    """Write a connection with its frames, the oldest first.

    :param full: whether to print long frames whole.
    """
    for line in (*_head(entry, terminal), *claimants(entry.get("matches", ()), terminal)):
        terminal.line(line)
    for line in _events(entry, terminal, full=full):
        terminal.line(line)


def _head(entry: Entry, terminal: Terminal) -> Iterator[str]:
    yield terminal.paint(f"WebSocket {printable(entry['url'])}", "bold")
    outcome = printable(entry["outcome"])
    yield f"{INDENT}{terminal.paint(outcome, list_columns.COLOURS.get(outcome))}{_closed(entry)}"
    known = [
        ("error", entry.get("errorMessage")),
        ("id", entry["id"]),
        ("time", list_columns.when(entry["timestamp"]).isoformat(" ", "milliseconds")),
        ("client", entry["clientId"]),
        ("protocols", ", ".join(entry["protocols"])),
        *about_test(entry),
    ]
    yield from facts(known, terminal)


def _closed(entry: Entry) -> str:
    if "close" not in entry:
        return ", open" if entry["outcome"] in ("matched", "passthrough") else ""
    close = entry["close"]
    parts = [str(close.get("code", "")), printable(close.get("reason", ""))]
    parts += [] if close["wasClean"] else ["not clean"]
    return " ".join([", closed", *filter(None, parts)])


def _events(entry: Entry, terminal: Terminal, *, full: bool) -> Iterator[str]:
    yield from heading("→ from the application, ← to it, · between", terminal)
    for event in reversed(entry["events"]):
        arrow = _ARROWS.get(event["direction"], "?")
        text = _what(event)
        if not full and terminal.width is not None:
            text = cut(text, max(_BEFORE_DATA, terminal.width - _BEFORE_DATA))
        clock = list_columns.when(event["timestamp"]).strftime("%H:%M:%S.%f")[:-3]
        yield f"{INDENT}{terminal.paint(clock, 'dim')} {arrow} {text}"


def _what(event: Entry) -> str:
    detail = printable(event.get("detail", ""))
    if event["kind"] != "frame":
        return f"{printable(event['kind'])}  {detail}"
    if event.get("truncated"):
        data = "(the history dropped the frame to keep within its bytes)"
    elif event.get("isBase64"):
        content = b64decode(event.get("data", ""))
        more = " …" if len(content) > _HEX_BYTES else ""
        data = f"{len(content)} bytes: {content[:_HEX_BYTES].hex(' ')}{more}"
    else:
        data = printable(event.get("data", ""))
    return f"{data}  ({detail})" if detail else data
