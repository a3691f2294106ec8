"""What a search looks at: the texts of an entry, put together and folded."""

from collections.abc import Iterator

from msgspec import UNSET, UnsetType

from trafficmock.wire.serialized_matcher import RouteMatchDiagnostic
from trafficmock.wire.serialized_request import HeaderPairs

_WINDOW = 64 * 1024  # characters


def lines(*texts: str | UnsetType) -> str:
    """Put the texts that are there on lines of their own."""
    return "\n".join([text for text in texts if text is not UNSET])


def claimants(matches: list[RouteMatchDiagnostic] | UnsetType) -> str | UnsetType:
    """Name the tests that claimed the same thing."""
    if matches is UNSET:
        return UNSET
    return lines(*(text for one in matches for text in (one.title, one.file, one.test_id)))


def header_lines(headers: dict[str, str], pairs: HeaderPairs | UnsetType) -> str:
    """Write headers as lines ``name:value``, from the ordered pairs when there are any."""
    listed = headers.items() if pairs is UNSET else pairs
    return "\n".join([f"{name}:{value}" for name, value in listed])


def header_weight(headers: dict[str, str], pairs: HeaderPairs | UnsetType = UNSET) -> int:
    """Count the characters of headers."""
    count = sum(map(len, headers)) + sum(map(len, headers.values()))
    if pairs is not UNSET:
        count += sum(len(name) + len(value) for name, value in pairs)
    return count


def fold_in_windows(text: str, overlap: int) -> Iterator[str]:
    """Fold the case of a long text, a window at a time, so that a reader may pause.

    :param overlap: how many characters of a window the next one repeats.
    """
    tail = ""
    for start in range(0, len(text), _WINDOW):
        window = tail + text[start : start + _WINDOW].casefold()
        yield window
        tail = window[-overlap:] if overlap else ""
