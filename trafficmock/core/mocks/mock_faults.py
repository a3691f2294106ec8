"""Faults: the ways in which a mocked answer breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from trafficmock.wire.features import FAULTS
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from trafficmock.wire.payloads.handler_action import AbortCode, Fault
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


def code_in_place_of(fault: Fault, features: frozenset[str]) -> AbortCode | None:
    """Return the abort code that stands for a fault.

    :param features: of the agent; one without ``faults`` fails the request before the answer.
    :returns: ``None`` if the agent breaks the answer by itself.
    """
    if fault.kind == "connection_reset" and fault.after is UNSET:
        return "connectionreset"
    return None if FAULTS in features else code_like(fault)


def code_like(fault: Fault) -> AbortCode:
    """Return the abort code that is most like a fault."""
    return "timedout" if fault.kind == "stall" else "connectionreset"


def located(fault: Fault, response: SerializedResponse) -> Fault:
    """Return a fault with the place in the body of a response where it happens.

    By default, half of the body comes before it is truncated, and nothing before other faults.
    """
    size = body.size(response.body_base64)
    default = size // 2 if fault.kind == "truncated" else 0
    after = default if fault.after is UNSET else min(fault.after, size)
    return structs.replace(fault, after=after)


def broken_response(fault: Fault, response: SerializedResponse) -> SerializedResponse:
    """Return what is recorded of a response that breaks: the part of its body before the fault."""
    content = body.to_bytes(response.body_base64)
    after = len(content) if fault.after is UNSET else fault.after
    if fault.kind == "empty_response":
        after = 0
    return structs.replace(
        response,
        body_base64=body.from_bytes(content[:after]),
        truncated=True,
        body_size=len(content),
    )


def in_words(fault: Fault) -> str:
    """Return what happened, for the history."""
    return f"the fault {fault.kind} of the test, after {fault.after} bytes of the body"
