"""Coercers of option values: functions from the text of an option to its value.

A coercer raises :exc:`ValueError` for an invalid text; the message says what the value must be.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

LARGEST = 2**53
Coerce = Callable[[str], Any]


def number(lowest: int, highest: int = LARGEST) -> Callable[[str], int]:
    """Make a coercer to whole numbers from ``lowest`` to ``highest``, both included."""

    def coerce(text: str) -> int:
        if text.isascii() and text.isdigit() and lowest <= int(text) <= highest:
            return int(text)
        most = f" to {highest}" if highest < LARGEST else " or more"
        raise ValueError(f"a whole number, {lowest}{most}, not {text!r}")

    return coerce


def choice(*allowed: str) -> Callable[[str], str]:
    """Make a coercer that accepts one of the words in ``allowed``."""

    def coerce(text: str) -> str:
        if text in allowed:
            return text
        raise ValueError(f"one of {', '.join(allowed)}, not {text!r}")

    return coerce


def not_empty(text: str) -> str:
    """Accept a text that is not empty and does not begin with ``--``.

    A value that begins with ``--`` is the next option: the value itself was left out.
    """
    if not text:
        raise ValueError("not empty")
    if text.startswith("--"):
        raise ValueError(f"followed by its value, not by the option {text!r}")
    return text


def http_url(text: str) -> str:
    """Accept an ``http`` or ``https`` URL with a host, and without user information or query."""
    try:
        parts = urlsplit(not_empty(text))
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    plain = text.isascii() and text.isprintable() and not set(text) & set(" @?#")
    if plain and host and port != 0 and parts.scheme in ("http", "https"):
        return text
    raise ValueError("a URL such as http://127.0.0.1:4318, without user, query and fragment")


def named(name: str, coerce: Coerce) -> Coerce:
    """Make a coercer whose errors begin with the name of the option.

    :param name: the option, without ``--``.
    """

    def coerce_named(text: str) -> Any:
        try:
            return coerce(text)
        except ValueError as error:
            raise ValueError(f"--{name} must be {error}") from None

    return coerce_named
