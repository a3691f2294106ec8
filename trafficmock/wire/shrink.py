"""Smaller forms of messages that are larger than clients accept."""

from __future__ import annotations

from msgspec import UNSET, structs

from trafficmock.wire import inbound, outbound
from trafficmock.wire.inbound import Message
from trafficmock.wire.outbound import TestWarning
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedError

MAX_TEXT = 2000
"""The most characters of an error text in a smaller form."""


def too_large(size: int, limit: int) -> str:
    """Return the problem of a message of ``size`` bytes, as the predicate of a sentence."""
    return (
        f"makes a message of {size} bytes, more than the {limit} bytes "
        "that clients take in one message."
    )


def shrink(message: Message, problem: str) -> Message | None:
    """Return the smaller form of a message.

    A request or response for workers loses its body; a mock or the result of a fetch becomes an
    error; an error is cut.

    :param problem: the result of :func:`too_large`.
    :returns: the smaller form; ``None`` if the message has none, or already has that form.
    """
    smaller = _smaller(message, problem)
    return None if smaller == message else smaller


def _smaller(message: Message, problem: str) -> Message | None:  # noqa: PLR0911 - one answer for each kind of message
    match message:
        case outbound.RequestObserved() | outbound.RequestClaim() | outbound.RequestReplied():
            request = structs.replace(message.request, body_base64=body.NULL)
            return structs.replace(message, request=request)
        case inbound.RequestResponse():
            return _smaller_response(message)
        case outbound.FetchDone():
            failure = SerializedError("Error", f"The response {problem}")
            return structs.replace(message, ok=False, response=UNSET, error=failure)
        case outbound.DecisionFulfill():
            text = f"The decision {problem}"
            return outbound.DecisionError(message.request_id, "internal", text)
        case outbound.DecisionAbort():
            return structs.replace(message, message=UNSET)
        case outbound.DecisionError() | outbound.SocketError():
            return structs.replace(message, message=message.message[:MAX_TEXT], matches=UNSET)
        case TestWarning():
            return structs.replace(message, message=message.message[:MAX_TEXT])
        case outbound.ProxyError():
            return structs.replace(message, message=message.message[:MAX_TEXT], detail=UNSET)
    return None


def _smaller_response(message: inbound.RequestResponse) -> inbound.RequestResponse:
    response, error = message.response, message.error
    if response is not UNSET:
        response = structs.replace(response, body_base64=body.NULL)
    if error is not UNSET:
        error = SerializedError("Error", error.message[:MAX_TEXT])
    return structs.replace(message, response=response, error=error)
