"""Reads the arguments ``fault``, ``after`` and ``rate`` of answers."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, get_args

from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import UsageError
from trafficmock.wire.payloads.handler_action import Fault, FaultKind
from trafficmock.wire.payloads.numbers import SAFE_INTEGER

if TYPE_CHECKING:
    from typing import Any


def read_fault(fault: Any, after: Any) -> Fault | UnsetType:
    """Return the fault of an answer for the proxy; ``UNSET`` for an answer without one.

    :param fault: one of ``FaultKind``.
    :param after: the bytes of the body before it; ``None`` for the fault's default.
    :raises UsageError: there is no such fault, or ``after`` is no number of bytes.
    """
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


def read_rate(rate: Any, fault: Fault | UnsetType = UNSET) -> int | UnsetType:
    """Return the bytes of an answer's body in a second; ``UNSET`` for all at once.

    :param fault: how the answer breaks, if it does.
    :raises UsageError: it is no number of bytes, or there is a fault, too.
    """
    if rate is None:
        return UNSET
    if fault is not UNSET:
        raise UsageError("rate excludes fault")
    if isinstance(rate, bool) or not isinstance(rate, int) or rate < 1:
        raise UsageError(f"rate is a number of bytes in a second, 1 or more, not {rate!r}")
    return rate
