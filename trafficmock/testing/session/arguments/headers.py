"""Headers as ordered pairs, and the rules for changing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from trafficmock.testing.errors import UsageError
from trafficmock.wire.http_syntax import BAD_VALUE, TOKEN, join_repeats, repeat_separator

if TYPE_CHECKING:
    from msgspec import UnsetType

    from trafficmock.wire.payloads.serialized_request import HeaderPairs

Pairs = tuple[tuple[str, str], ...]
HeadersArgument = Mapping[str, Any] | Iterable[tuple[str, Any]]
"""What tests may write: a mapping, or pairs where a name comes more than once."""

_FORBIDDEN = frozenset(
    {
        "accept-charset",
        "accept-encoding",
        "access-control-request-headers",
        "access-control-request-method",
        "connection",
        "content-length",
        "cookie",
        "date",
        "dnt",
        "expect",
        "host",
        "keep-alive",
        "origin",
        "referer",
        "set-cookie",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    }
)
_METHOD_OVERRIDES = frozenset({"x-http-method", "x-http-method-override", "x-method-override"})
_FORBIDDEN_METHODS = frozenset({"connect", "trace", "track"})


def from_wire(headers: dict[str, str], pairs: HeaderPairs | UnsetType) -> Pairs:
    """Take headers as they came, names in lower case; the list wins over the map."""
    items = headers.items() if pairs is UNSET else pairs
    return tuple((name.lower(), value) for name, value in items)


def to_map(pairs: Pairs) -> dict[str, str]:
    """Join repeats: ``set-cookie`` by a line feed, as Playwright does, the others as HTTP does."""
    joined: dict[str, str] = {}
    for name, value in pairs:
        if name in joined:
            separator = "\n" if name == "set-cookie" else repeat_separator(name)
            joined[name] += separator + value
        else:
            joined[name] = value
    return joined


def to_wire(pairs: Pairs) -> tuple[dict[str, str], HeaderPairs | UnsetType]:
    """Give the map that protocol 3 wants, and the list where the map would lose something."""
    repeated = len({name for name, _ in pairs}) < len(pairs)
    return join_repeats(pairs), list(pairs) if repeated else UNSET


def get(pairs: Pairs, name: str) -> str | None:
    """Read one header, repeats joined; names are case-insensitive (RFC 9110 section 5.1)."""
    return to_map(pairs).get(name.lower())


def without(pairs: Pairs, *names: str) -> Pairs:
    return tuple(pair for pair in pairs if pair[0] not in names)


def strict(headers: HeadersArgument) -> Pairs:
    """Read headers whose values must be strings; ``None`` leaves a header out.

    :raises UsageError: a value is not a string, or they are neither a mapping nor pairs.
    """
    result = []
    for name, value in _items(headers):
        if value is None:
            continue
        if not isinstance(value, str):
            raise UsageError(f"header {name!r} must be a string, not {type(value).__name__}")
        result.append((_text(name).lower(), _text(value)))
    return tuple(result)


def lenient(headers: HeadersArgument) -> Pairs:
    """Read headers of any values, made strings; ``None`` leaves a header out.

    :raises UsageError: they are neither a mapping nor pairs.
    """
    return tuple(
        (_text(name).lower(), _text(value)) for name, value in _items(headers) if value is not None
    )


def for_continue(original: Pairs, changed: Pairs) -> Pairs:
    """Replace a request's headers where a handler may: the forbidden ones stay the original's."""
    kept = tuple(pair for pair in original if is_forbidden(*pair))
    return tuple(pair for pair in changed if not is_forbidden(*pair)) + kept


def is_forbidden(name: str, value: str) -> bool:
    """Tell whether a handler cannot change this header (the Fetch standard's list)."""
    if name in _FORBIDDEN or name.startswith(("proxy-", "sec-")):
        return True
    if name in _METHOD_OVERRIDES:
        methods = {method.strip().lower() for method in value.split(",")}
        return bool(methods & _FORBIDDEN_METHODS)
    return False


def check_headers(pairs: Pairs) -> None:
    """See to it that a response can carry headers.

    :raises UsageError: it cannot. The lines of a ``set-cookie`` are several cookies.
    """
    for name, value in pairs:
        if not TOKEN.fullmatch(name):
            raise UsageError(f"{name!r} is not a header name")
        if BAD_VALUE.search(value.replace("\n", "") if name == "set-cookie" else value):
            raise UsageError(
                f"the header {name!r} has a line break, a NUL or a character above U+00FF: "
                f"{value!r}"
            )


def _items(headers: HeadersArgument) -> list[tuple[str, Any]]:
    if isinstance(headers, Mapping):
        pairs = list(headers.items())
    elif isinstance(headers, Iterable) and not isinstance(headers, str | bytes):
        pairs = list(headers)
    else:
        pairs = [()]
    if not all(map(_is_pair, pairs)):
        raise UsageError(f"headers are a mapping, or pairs of a name and a value, not {headers!r}")
    for name, value in pairs:
        if isinstance(name, bytes) or isinstance(value, bytes):
            raise UsageError(f"a header's name and value are text, not bytes: {name!r}: {value!r}")
    return pairs


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple | list) and len(item) == 2  # noqa: PLR2004 - a pair


def _text(given: Any) -> str:
    """Write a name or value; of a text in an enumeration, the text, not its name there."""
    return str.__str__(given) if isinstance(given, str) else str(given)
