"""Formats recorded bodies as lines: JSON indented, text as it is, other content in hexadecimal."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from trafficmock.texts.message_text import printable

MOST_LINES = 60
MOST_CHARACTERS = 500
"""Characters of the longest line that is printed whole."""

_ROW = 16
_TAB = "    "


def body_lines(message: Mapping[str, Any], *, full: bool) -> list[str]:
    """Format the body of a recorded request or response.

    :param full: whether to print long bodies whole.
    :returns: printable lines; none if there is no body. The last one names missing parts.
    """
    content = b64decode(message.get("bodyBase64") or "")
    lines = _lines(content)
    if full:
        shown = [printable(line) for line in lines]
    else:
        shown = [printable(_short(line)) for line in lines[:MOST_LINES]]
        if len(lines) > MOST_LINES:
            shown.append(f"({len(lines) - MOST_LINES} more lines; --full shows them)")
    return shown + _missing(message, len(content))


def hex_lines(content: bytes) -> list[str]:
    """Format bytes as offset, hexadecimal and ASCII."""
    rows = []
    for start in range(0, len(content), _ROW):
        row = content[start : start + _ROW]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)  # noqa: PLR2004 - ASCII
        rows.append(f"{start:08x}  {row.hex(' '):<{3 * _ROW}} {text}")
    return rows


def _missing(message: Mapping[str, Any], kept: int) -> list[str]:
    """Return a line about the part of a body that is still arriving or was not kept."""
    if message.get("bodyPending"):
        return ["(the body is still arriving)"]
    if not message.get("truncated"):
        return []
    size = message.get("bodySize")
    if kept:
        whole = "" if size is None else f" of {size}"
        return [f"(the history kept the first {kept}{whole} bytes)"]
    whole = "" if size is None else f" of {size} bytes"
    return [f"(the history did not keep the body{whole})"]


def _lines(content: bytes) -> list[str]:
    if not content:
        return []
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return hex_lines(content)
    if "\0" in text:
        return hex_lines(content)
    if text[:1] in ("{", "["):
        text = _laid_out(text)
    return [line.replace("\t", _TAB) for line in text.replace("\r\n", "\n").split("\n")]


def _laid_out(text: str) -> str:
    """Indent JSON; other text, and JSON that is nested too deep, stays as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _short(line: str) -> str:
    more = len(line) - MOST_CHARACTERS
    return f"{line[:MOST_CHARACTERS]} ({more} more characters)" if more > 0 else line
