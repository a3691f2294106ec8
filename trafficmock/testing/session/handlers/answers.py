"""Reads the options of answers: those of ``mock`` and its ``sequence``, ``fulfill``, ``continue_``.

An option stands in one function here: :func:`read_how` has those that say how an answer comes,
:func:`_read_answer` those of a response that the proxy gives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

from msgspec import UNSET, UnsetType, structs

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.stream_parts import content_of
from trafficmock.testing.session.handlers.mock_response import Mock, build
from trafficmock.wire.payloads.abort_codes import PLAYWRIGHT_CODES
from trafficmock.wire.payloads.answer import Abort, Fault, FaultKind, Fulfill
from trafficmock.wire.payloads.numbers import SAFE_INTEGER

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.session.handlers.mock_response import File
    from trafficmock.wire.payloads.answer import AbortCode, Piece

    FileReader = Callable[[Any], File]

Delay = float | timedelta | None
"""Milliseconds or a duration; ``None`` and 0 are no delay."""

_RESPONSE = ("status", "status_text", "headers", "body", "json", "path", "content_type")
_KEYS = (*_RESPONSE, "chunks", "abort", "fault", "after", "rate", "delay")


def read_answers(
    given: Mapping[str, Any], sequence: Any, read_file: FileReader
) -> list[Fulfill | Abort]:
    """Return the answers of a mock, which the proxy gives one after the other.

    :param given: the arguments of ``mock`` by name, ``None`` where one was not given.
    :param sequence: the answers: statuses, and mappings with the arguments of ``fulfill`` or with
        ``abort``, each also with ``delay``; ``None`` for a single answer.
    :param read_file: reads the file of ``path``.
    :raises UsageError: an answer is invalid; the error has its number.
    """
    if sequence is None:
        return [_read_answer(given, read_file)]
    if any(value is not None for name, value in given.items() if name != "delay"):
        raise UsageError("with sequence, each answer has its own status, headers and body")
    if not isinstance(sequence, Sequence) or isinstance(sequence, str | bytes) or not sequence:
        raise UsageError(
            "sequence is a list of answers, such as [503, 503, {'json': {'paid': True}}], "
            f"not {sequence!r}"
        )
    answers = []
    for number, each in enumerate(sequence, 1):
        is_status = isinstance(each, int) and not isinstance(each, bool)
        try:
            step = {"status": each} if is_status else each
            _check_keys(step)
            answers.append(_read_answer({"delay": given["delay"], **step}, read_file))
        except UsageError as error:
            raise UsageError(f"answer {number} of the sequence: {error}") from None
    return answers


def _check_keys(given: Any) -> None:
    if not isinstance(given, Mapping):
        raise UsageError(f"a status or a dict such as {{'status': 503}} is expected, not {given!r}")
    unknown = next((key for key in given if key not in _KEYS), UNSET)
    if unknown is not UNSET:
        near = get_close_matches(str(unknown), _KEYS, n=1)
        hint = f"did you mean {near[0]!r}? The keys" if near else "the keys"
        raise UsageError(f"{unknown!r} is unknown; {hint} are: {', '.join(_KEYS)}")
    beside = [key for key in (*_RESPONSE, "chunks", "fault", "after", "rate") if key in given]
    if "abort" in given and beside:
        raise UsageError(f"abort is a failure and has no {beside[0]}")


def _read_answer(given: Mapping[str, Any], read_file: FileReader) -> Fulfill | Abort:
    """Return the answer that options describe; the URL of a response is that of the request.

    :raises UsageError: an option is invalid.
    """
    how = {name: given.get(name) for name in ("delay", "fault", "after", "rate")}
    if "abort" in given:
        return Abort(abort_code(given["abort"]), delay_ms=read_delay(how["delay"]))
    chunks, path = given.get("chunks"), given.get("path")
    file = None if path is None else read_file(path)
    options = {name: given.get(name) for name in _RESPONSE if name != "path"}
    if chunks is None:
        return Fulfill(_response(Mock(file=file, **options)), **read_how(**how))
    if any(each is not None for each in (options["body"], options["json"], file, how["fault"])):
        raise UsageError("chunks exclude body, json, path and fault")
    if how["rate"] is not None:
        raise UsageError("rate excludes chunks and fault")
    if isinstance(chunks, str | bytes):
        raise UsageError(f"chunks is a list of the pieces, not {type(chunks).__name__}")
    contents = [content for content in map(content_of, chunks) if content]
    response = _response(Mock(**options | {"body": b"".join(contents)}))
    between = read_how(delay=how["delay"], after=how["after"])["delay_ms"] or 0
    pieces: list[Piece] = [
        (between if index else 0, len(content)) for index, content in enumerate(contents)
    ]
    return Fulfill(response, pieces=pieces)


def _response(mock: Mock) -> Any:
    return structs.replace(build(mock, ""), url=UNSET)


def in_words(answers: Sequence[Fulfill | Abort]) -> str:
    """Describe the answers of a mock, as part of a sentence."""
    first = answers[0]
    if len(answers) > 1 or isinstance(first, Abort):
        return f"of a mock with a sequence of {len(answers)} answers"
    return f"of a mock with status {first.response.status}"


def read_how(
    *, delay: Delay = None, fault: Any = None, after: Any = None, rate: Any = None
) -> dict[str, Any]:
    """Read the options that say how an answer comes, also a real one.

    :param delay: the time after which the proxy gives it.
    :param fault: one of ``FaultKind``, with which it breaks.
    :param after: the bytes of the body before the fault; ``None`` for the fault's default.
    :param rate: the bytes of the body in a second; ``None`` for all at once.
    :returns: fields of :class:`.Fulfill` and :class:`.Continue`.
    :raises UsageError: one of them is invalid, or they exclude each other.
    """
    breaks = _read_fault(fault, after)
    if rate is not None and breaks is not UNSET:
        raise UsageError("rate excludes fault")
    if rate is not None and (isinstance(rate, bool) or not isinstance(rate, int) or rate < 1):
        raise UsageError(f"rate is a number of bytes in a second, 1 or more, not {rate!r}")
    return {
        "delay_ms": read_delay(delay),
        "fault": breaks,
        "rate": UNSET if rate is None else rate,
    }


def read_delay(delay: Delay) -> int | UnsetType:
    """Return a delay for the proxy, in whole milliseconds; ``UNSET`` without one.

    :raises UsageError: it is not a duration, or it is negative.
    """
    if delay is None:
        return UNSET
    given = delay.total_seconds() * 1000 if isinstance(delay, timedelta) else delay
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not 0 <= given <= SAFE_INTEGER:
        raise UsageError(f"delay is milliseconds or a timedelta, 0 or more, not {delay!r}")
    return math.ceil(given) or UNSET


def _read_fault(fault: Any, after: Any) -> Fault | UnsetType:
    if fault is None:
        if after is not None:
            raise UsageError("after is the number of bytes before a fault, and there is no fault")
        return UNSET
    kinds = get_args(FaultKind)
    if fault not in kinds:
        near = get_close_matches(str(fault), kinds, n=1)
        hint = f"did you mean {near[0]!r}? The faults" if near else "the faults"
        raise UsageError(f"fault: {fault!r} is unknown; {hint} are: {', '.join(kinds)}")
    if after is None:
        return Fault(fault)
    if fault == "empty_response":
        raise UsageError("empty_response has no body, so nothing comes after a part of it")
    if not isinstance(after, int) or isinstance(after, bool) or not 0 <= after <= SAFE_INTEGER:
        raise UsageError(f"after is a number of bytes, 0 or more, not {after!r}")
    return Fault(fault, after)


def abort_code(code: str) -> AbortCode:
    """Return the code of protocol 3 for one of Playwright's.

    :raises UsageError: ``code`` is not a key of :data:`PLAYWRIGHT_CODES`.
    """
    if code not in PLAYWRIGHT_CODES:
        near = get_close_matches(str(code), PLAYWRIGHT_CODES, n=1)
        hint = f"did you mean {near[0]!r}? These" if near else "these"
        raise UsageError(
            f"abort: {code!r} is not an error code of Playwright; "
            f"{hint} are: {', '.join(PLAYWRIGHT_CODES)}"
        )
    return PLAYWRIGHT_CODES[code]
