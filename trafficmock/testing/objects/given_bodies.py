"""The bodies that a test gives as an iterable of parts."""

from __future__ import annotations

from typing import Any

from trafficmock.testing.errors import UsageError


def is_parts(body: Any) -> bool:
    """Return whether a body is an iterable of parts."""
    if isinstance(body, str | bytes | bytearray | memoryview | dict):
        return False
    return hasattr(body, "__iter__") or hasattr(body, "__aiter__")


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
