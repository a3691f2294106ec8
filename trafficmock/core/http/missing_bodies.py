"""Fails requests whose body does not come."""

from __future__ import annotations

from trafficmock.core import error_messages
from trafficmock.core.effects import EffectList
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.state.lifecycle import PendingRequest
from trafficmock.wire.payloads.serialized_request import SerializedRequest

_MOST_DIGITS = 20
"""The most digits of a content-length in a message: those of the largest 64-bit number."""


def body_overdue(decisions: Decisions, pending: PendingRequest, out: EffectList) -> None:
    """Fail a request whose body did not arrive in time."""
    milliseconds = round(decisions.state.settings.body_timeout * 1000)
    length = _declared_length(pending.request)
    text = error_messages.body_overdue(pending.subject, milliseconds, length)
    fail_without_body(decisions, pending, text, out)


def fail_without_body(
    decisions: Decisions, pending: PendingRequest, text: str, out: EffectList
) -> None:
    """Fail a request without a body, and the test that owns it, if that is known."""
    if pending.test is None:
        decisions.fail(pending, "internal", text, out)
    else:
        decisions.fail_owner(pending, "internal", text, out)


def _declared_length(request: SerializedRequest) -> str | None:
    """Return the content-length of a request, ``None`` without a valid one."""
    for name, value in request.headers.items():
        if name.lower() == "content-length" and value.isascii() and value.isdecimal():
            return value[:_MOST_DIGITS]
    return None
