"""The options of an answer, in the form in which the proxy gets them, which reads them.

What only Python can read is read here: a body becomes bytes, a file is read, headers become pairs.
Everything else is sent as the test has written it, under its name.
"""

from __future__ import annotations

import json
import math
import mimetypes
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import UNSET, structs

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments.request_overrides import BYTES
from trafficmock.testing.session.arguments.stream_parts import content_of
from trafficmock.wire.payloads.answer_options import (
    HEADER_OPTIONS,
    Call,
    FileContent,
    Foreign,
    options_of,
)
from trafficmock.wire.payloads.serialized_response import SerializedResponse

Delay = float | timedelta | None
"""Milliseconds or a duration; ``None`` and 0 are no delay."""

_LARGEST = 2**63
"""JSON is written with integers below this one."""


def sent_options(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return options by name, as they are sent.

    :param given: the arguments of a call, or one answer of a ``sequence``.
    :raises UsageError: a body or headers have a wrong type.
    :raises OSError: a file cannot be read.
    """
    return {
        str(name): None if value is None else _READ.get(name, _written)(value)
        for name, value in given.items()
    }


def sent_arguments(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call that are given, as :func:`sent_options` does.

    :param given: its arguments by name, and perhaps other names: ``locals()``.
    """
    names = [name for name in options_of(call) if given.get(name) is not None]
    return sent_options({name: given[name] for name in names})


def _sequence(answers: Any) -> Any:
    if not isinstance(answers, Sequence) or isinstance(answers, str | bytes):
        return _written(answers)
    sent = []
    for number, answer in enumerate(answers, 1):
        try:
            is_mapping = isinstance(answer, Mapping)
            sent.append(sent_options(answer) if is_mapping else _written(answer))
        except UsageError as error:
            raise UsageError(f"answer {number} of the sequence: {error}") from None
    return sent


def _body(given: Any) -> bytes:
    if isinstance(given, str | bytes | bytearray | memoryview):
        return content_of(given)
    raise UsageError(
        f"body must be str or bytes, not {type(given).__name__}: for objects there is json, and "
        'the parts of an iterator are joined first (b"".join(parts)), because a mock is sent whole'
    )


def _file(path: Any) -> FileContent:
    return FileContent(Path(path).read_bytes(), mimetypes.guess_type(str(path))[0] or BYTES)


def _chunks(given: Any) -> list[bytes]:
    if isinstance(given, str | bytes):
        raise UsageError(f"chunks is a list of the pieces, not {type(given).__name__}")
    return [*map(content_of, given)]


def _response(response: Any) -> SerializedResponse:
    state = response._state  # noqa: SLF001 - ours too
    if state.disposed:
        raise UsageError("the response given to fulfill has been disposed")
    wire: SerializedResponse = structs.replace(state.wire, url=state.url, pieces=UNSET)
    return wire


def _written(value: Any) -> Any:
    if isinstance(value, timedelta) and value >= timedelta():
        return value.total_seconds() * 1000
    is_number = isinstance(value, int | float) and math.isfinite(value) and abs(value) < _LARGEST
    return value if is_number or value is None or isinstance(value, str) else Foreign(repr(value))


_READ: dict[str, Callable[[Any], Any]] = {
    **{name: partial(hd.lenient, option=name) for name in HEADER_OPTIONS},
    "body": _body,
    "json": lambda value: json.dumps(value).encode(),
    "path": _file,
    "chunks": _chunks,
    "sequence": _sequence,
    "response": _response,
}
