"""Measures printable text in columns of a terminal, and cuts it to a width.

Recorded text has to be escaped before, by :func:`trafficmock.redaction.printable`.
"""

import unicodedata

ELLIPSIS = "…"


def width(text: str) -> int:
    """Return the columns of a printable text; wide characters have two."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, columns: int) -> str:
    """Cut a text at its end to a width, with an ellipsis."""
    if width(text) <= columns:
        return text
    return _head(text, columns - 1) + ELLIPSIS if columns > 0 else ""


def cut_middle(text: str, columns: int) -> str:
    """Cut a text in its middle to a width, with an ellipsis: both ends of a URL are significant."""
    if width(text) <= columns or columns < 2:  # noqa: PLR2004 - two ends need two columns
        return cut(text, columns)
    tail = _head(text[::-1], (columns - 1) // 3)[::-1]
    return f"{_head(text, columns - 1 - width(tail))}{ELLIPSIS}{tail}"


def _head(text: str, columns: int) -> str:
    taken = 0
    for index, char in enumerate(text):
        taken += _columns(char)
        if taken > columns:
            return text[:index]
    return text


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
