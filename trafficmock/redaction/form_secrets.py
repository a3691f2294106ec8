"""Secrets in queries and forms: ``name=value`` pairs, and the parts of ``multipart/form-data``."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from trafficmock.redaction import marks
from trafficmock.redaction.secret_names import is_count

_BOUNDARY = re.compile(r'boundary="?([^";\s]{1,200})', re.IGNORECASE)
_FIRST_LINE = re.compile(r"\s{0,4}--([^\s\"]{1,200})\r?\n[A-Za-z-]{1,40}:")
_NAME = re.compile(r'(?<![\w*])name="?((?:[^"\\;\r\n]|\\.){0,200})', re.IGNORECASE)
_TYPE = re.compile(r"^content-type:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


def redacted_pairs(
    text: str,
    *,
    is_secret: Callable[[str], bool],
    mark: Callable[[str], str],
    text_of: Callable[[str], str],
    plus: bool,
) -> str:
    """Replace the secrets of a query or a form; what is none stays as it was written.

    :param text: pairs, separated by ``&``.
    :param is_secret: judges the name of a pair.
    :param text_of: replaces the secrets within a value that is none as a whole.
    :param plus: a plus sign is a space, as in forms.
    """
    return "&".join(_pair(each, is_secret, mark, text_of, plus) for each in text.split("&"))


def _pair(
    pair: str,
    is_secret: Callable[[str], bool],
    mark: Callable[[str], str],
    text_of: Callable[[str], str],
    plus: bool,  # noqa: FBT001 - of the function above
) -> str:
    decode, encode = (unquote_plus, quote_plus) if plus else (unquote, quote)
    name, equals, value = pair.partition("=")
    if equals and is_secret(decode(name)) and not is_count(decode(name), value):
        return f"{name}={mark(decode(value))}"
    parts = []
    for part in (name, value):
        plain = decode(part)
        new = text_of(plain)
        parts.append(part if new == plain else marks.unquoted(encode(new, safe="")))
    return f"{parts[0]}{equals}{parts[1]}"


def boundary_of(content_type: str) -> str | None:
    """Return the boundary of a multipart body."""
    found = _BOUNDARY.search(content_type)
    return found[1] if found else None


def marked_boundary(text: str) -> str | None:
    """Return the boundary of a multipart body as its first line has it; ``None`` for another."""
    found = _FIRST_LINE.match(text)
    return found[1] if found else None


def redacted_parts(
    text: str,
    boundary: str,
    *,
    is_secret: Callable[[str], bool],
    mark: Callable[[str], str],
    head_of: Callable[[str], str],
    body_of: Callable[[str, str], str],
) -> str:
    """Replace the secrets of a multipart body.

    :param is_secret: judges the name of a part.
    :param head_of: replaces the secrets in the header lines of a part.
    :param body_of: replaces the secrets in the body of a part that is none as a whole; gets the
        body and its content type.
    """
    pieces = text.split(f"--{boundary}")
    return f"--{boundary}".join(_part(piece, is_secret, mark, head_of, body_of) for piece in pieces)


def _part(
    piece: str,
    is_secret: Callable[[str], bool],
    mark: Callable[[str], str],
    head_of: Callable[[str], str],
    body_of: Callable[[str, str], str],
) -> str:
    gap = "\r\n\r\n" if "\r\n\r\n" in piece else "\n\n"
    head, between, content = piece.partition(gap)
    if not between:
        return piece
    end = "\r\n" if content.endswith("\r\n") else "\n" if content.endswith("\n") else ""
    content = content.removesuffix(end)
    name = _NAME.search(head)
    kind = _TYPE.search(head)
    if name and is_secret(name[1]):
        content = mark(content)
    else:
        content = body_of(content, kind[1] if kind else "")
    return f"{head_of(head)}{between}{content}{end}"
