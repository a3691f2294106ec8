"""Headers as ordered pairs of lower-case name and value, and the rules for changing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trafficmock.testing.errors import UsageError
from trafficmock.wire.http_syntax import BAD_VALUE, TOKEN, repeat_separator

TextPairs = tuple[tuple[str, str], ...]
HeadersArgument = Mapping[str, Any] | Iterable[tuple[str, Any]]
"""The type of the argument ``headers``: a mapping, or pairs where a name repeats."""


def to_map(pairs: TextPairs) -> dict[str, str]:
    """Join repeated headers: ``set-cookie`` by a line feed (Playwright), others as in RFC 9110."""
    joined: dict[str, str] = {}
    for name, value in pairs:
        if name in joined:
            separator = "\n" if name == "set-cookie" else repeat_separator(name)
            joined[name] += separator + value
        else:
            joined[name] = value
    return joined


def get(pairs: TextPairs, name: str) -> str | None:
    """Return one header, repeats joined; names are case-insensitive (RFC 9110 section 5.1)."""
    return to_map(pairs).get(name.lower())


def strict(headers: HeadersArgument) -> TextPairs:
    """Read headers whose values must be strings; a header with ``None`` is left out.

    :raises UsageError: a value is not a string, or ``headers`` is neither a mapping nor pairs.
    """
    pairs = _items(headers)
    for name, value in pairs:
        if value is not None and not isinstance(value, str):
            raise UsageError(f"header {name!r} must be a string, not {type(value).__name__}")
    return lenient(pairs)


def lenient(headers: HeadersArgument, option: str = "headers") -> TextPairs:
    """Read headers and convert values to strings; a header with ``None`` is left out.

    :param option: how the option is called, for errors.
    :raises UsageError: a value is bytes, or ``headers`` is neither a mapping nor pairs.
    """
    pairs = _items(headers, option)
    return tuple((_text(name).lower(), _text(value)) for name, value in pairs if value is not None)


def check(pairs: TextPairs) -> None:
    """Check that HTTP can carry the changed headers of a request (RFC 9110 section 5).

    :raises UsageError: it cannot carry a name or a value, which is not told: it may be secret.
    """
    for name, value in pairs:
        if not TOKEN.fullmatch(name):
            raise UsageError(f"{name!r} is not a header name")
        if BAD_VALUE.search(value):
            raise UsageError(
                f"the header {name!r} has a line break, a NUL or a character above U+00FF"
            )


def _items(headers: HeadersArgument, option: str = "headers") -> list[tuple[str, Any]]:
    if isinstance(headers, Mapping):
        pairs = list(headers.items())
    elif isinstance(headers, Iterable) and not isinstance(headers, str | bytes):
        pairs = list(headers)
    else:
        pairs = [()]
    if not all(map(_is_pair, pairs)):
        raise UsageError(f"{option} are a mapping, or pairs of a name and a value, not {headers!r}")
    for name, value in pairs:
        if isinstance(name, bytes) or isinstance(value, bytes):
            raise UsageError(f"a header's name and value are text, not bytes: {name!r}: {value!r}")
    return pairs


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple | list) and len(item) == 2  # noqa: PLR2004 - a pair


def _text(given: Any) -> str:
    """Convert a name or value to text; a member of a string enumeration becomes its value."""
    return str.__str__(given) if isinstance(given, str) else str(given)
