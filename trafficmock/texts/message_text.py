"""Texts from outside for messages: credentials removed, control characters escaped."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")


def without_credentials(url: str) -> str:
    """Replace the user information of a URL by ``...``, for messages that quote the URL.

    :param url: any text, since it may be an invalid URL.
    """
    secret, at, rest = url.rpartition("@")
    if not at:
        return url
    scheme = _SCHEME.match(secret)
    return f"{scheme[0] if scheme else ''}...@{rest}"


def printable(text: str) -> str:
    """Escape the unprintable characters of a text, so that it stays on one line.

    :param text: may have any characters: control characters, escape sequences, bidirectional
        marks, lone surrogates.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
