"""Readers of option values: each takes the text, and its error says what the value must be."""

from collections.abc import Callable
from typing import Any

LARGEST = 2**53
Coerce = Callable[[str], Any]


def number(lowest: int, highest: int = LARGEST) -> Callable[[str], int]:
    """Make a reader of whole numbers between two bounds, both inclusive."""

    def coerce(text: str) -> int:
        if text.isascii() and text.isdigit() and lowest <= int(text) <= highest:
            return int(text)
        most = f" to {highest}" if highest < LARGEST else " or more"
        raise ValueError(f"a whole number, {lowest}{most}, not {text!r}")

    return coerce


def choice(*allowed: str) -> Callable[[str], str]:
    """Make a reader of one of these words."""

    def coerce(text: str) -> str:
        if text in allowed:
            return text
        raise ValueError(f"one of {', '.join(allowed)}, not {text!r}")

    return coerce


def not_empty(text: str) -> str:
    """Read any text but none, and no option that took the value's place."""
    if not text:
        raise ValueError("not empty")
    if text.startswith("--"):
        raise ValueError(f"followed by its value, not by the option {text!r}")
    return text


def named(name: str, coerce: Coerce) -> Coerce:
    """Make what a reader raises begin with the option's name."""

    def coerce_named(text: str) -> Any:
        try:
            return coerce(text)
        except ValueError as error:
            raise ValueError(f"--{name} must be {error}") from None

    return coerce_named
