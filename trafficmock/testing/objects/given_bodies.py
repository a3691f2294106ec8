"""The bodies that a test gives as an iterable of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trafficmock.testing.errors import UsageError
from trafficmock.wire.payloads.answer_options import options_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_parts(body: Any) -> bool:
    """Return whether a body is an iterable of parts."""
    if isinstance(body, str | bytes | bytearray | memoryview | dict):
        return False
    return hasattr(body, "__iter__") or hasattr(body, "__aiter__")


def head_beside_parts(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``fulfill`` with which a stream of its body begins.

    :param given: all its arguments by name.
    :raises UsageError: an option is given that a stream does not have.
    """
    head = options_of("stream")
    others = [name for name in options_of("fulfill") if name not in head and name != "body"]
    beside = [name for name in others if given[name] is not None]
    if "fault" in beside or "after" in beside:
        raise UsageError("an answer in parts breaks by stream.abort(), not by a fault")
    if beside:
        *names, last = [name for name in others if name not in {"fault", "after"}]
        raise UsageError(f"an iterable as body excludes {', '.join(names)} and {last}")
    return {name: given[name] for name in head}


def pour(stream: Any, parts: Any) -> None:
    """Send all parts of an iterable; it is closed if the application goes away.

    :param stream: a ``Stream``.
    :raises UsageError: a part is neither text nor bytes, or the iterable is an async one.
    """
    if not hasattr(parts, "__iter__"):
        raise UsageError("body: an async iterable needs an async handler")
    try:
        for part in parts:
            stream.send(part)
    finally:
        if hasattr(parts, "close"):
            parts.close()
    stream.end()


async def pour_async(stream: Any, parts: Any) -> None:
    """Send all parts of an iterable or async iterable by an ``AsyncStream``, as :func:`pour`."""
    try:
        if hasattr(parts, "__aiter__"):
            async for part in parts:
                await stream.send(part)
        else:
            for part in parts:
                await stream.send(part)
    finally:
        if hasattr(parts, "aclose"):
            await parts.aclose()
        elif hasattr(parts, "close"):
            parts.close()
    await stream.end()
