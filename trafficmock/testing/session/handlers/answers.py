"""Reads the options that say how the answer of a handler comes."""

from __future__ import annotations

import math
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import UsageError
from trafficmock.wire.payloads.abort_codes import PLAYWRIGHT_CODES
from trafficmock.wire.payloads.answer import Fault, FaultKind
from trafficmock.wire.payloads.numbers import SAFE_INTEGER

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.session.handlers.mock_response import File
    from trafficmock.wire.payloads.answer import AbortCode

    FileReader = Callable[[Any], File]


def read_how(
    *, delay: Any = None, fault: Any = None, after: Any = None, rate: Any = None
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


def read_delay(delay: Any) -> int | UnsetType:
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
