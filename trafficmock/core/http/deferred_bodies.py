"""Bodies that come after the announcement of their request (feature ``stream``).

Observers get a request only when its body is there, because a fixture takes the request of the
first message as complete: a handler would read a request without its body.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, structs

from trafficmock.core.effects import EffectList
from trafficmock.core.http.observation import send_observed
from trafficmock.core.settings import Settings
from trafficmock.core.state.lifecycle import AwaitedReport, DeferredObservation, PendingRequest
from trafficmock.records import RequestBodyCame
from trafficmock.wire.inbound import RequestBody
from trafficmock.wire.outbound import RequestObserved
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse
from trafficmock.wire.payloads.welcome import BodyLimits

HasBody = TypeVar("HasBody", SerializedRequest, SerializedResponse)


_AROUND = 2**20
"""The bytes of a message that are reserved for everything but the body."""


def send_deferred(
    pending: PendingRequest, out: EffectList, content: RequestBody | None = None
) -> None:
    """Send the deferred observation of a paused request to its observers, if there is one.

    :param content: the body; ``None`` if it will never arrive.
    """
    if pending.deferred is not None:
        pending.request = _send(pending.deferred, pending.id, content, pending.observers, out)
        pending.deferred = None


def send_deferred_report(
    report: AwaitedReport, out: EffectList, content: RequestBody | None = None, *, limit: int = 0
) -> None:
    """Send the deferred observation of a request on its way upstream, if there is one.

    :param content: the body; ``None`` if it will never arrive.
    :param limit: the most bytes of the body, 0 for all.
    """
    deferred, report.deferred = report.deferred, None
    if deferred is not None:
        _send(deferred, report.request_id, content, report.observers, out, limit=limit)


def _send(
    deferred: DeferredObservation,
    request_id: str,
    content: RequestBody | None,
    observers: tuple[str, ...],
    out: EffectList,
    *,
    limit: int = 0,
) -> SerializedRequest:
    """Record the body, and send the request to the observers.

    :param content: the body; without it the request is marked as truncated.
    :param limit: the most bytes of the body, 0 for all.
    :returns: the request with its body.
    """
    if content is None:
        request = structs.replace(deferred.request, truncated=True)
    else:
        request = structs.replace(
            deferred.request,
            body_base64=content.body_base64,
            truncated=content.truncated,
            body_size=content.body_size,
        )
    request = clipped(request, limit)
    out.record(RequestBodyCame(request_id, request))
    observers = tuple([each for each in observers if each not in deferred.not_for])
    if observers:
        observed = RequestObserved(request_id, for_workers(request), deferred.client_id)
        send_observed(observed, observers, deferred.context_test, deferred.arrival, out)
    return request


def clipped(holder: HasBody, limit: int) -> HasBody:
    """Cut the body of a request or response to ``limit`` bytes, and mark it as truncated.

    :param limit: 0 for no limit.
    """
    size = body.size(holder.body_base64)
    if not limit or size <= limit:
        return holder
    known = size if holder.body_size is UNSET else max(size, holder.body_size)
    beginning = body.beginning(holder.body_base64, limit)
    return structs.replace(holder, body_base64=beginning, truncated=True, body_size=known)


def for_workers(holder: HasBody) -> HasBody:
    """Remove a truncated body: a test must not take a part of a body for the whole."""
    if holder.truncated is not True or body.is_empty(holder.body_base64):
        return holder
    return structs.replace(holder, body_base64=body.NULL)


def body_limits(settings: Settings) -> BodyLimits:
    """Return the most bytes of a body that an agent may send: at most what fits in a message."""
    message = settings.message_bytes
    most = max(message - _AROUND, message // 2) // 4 * 3
    return BodyLimits(
        history=min(settings.history_body_bytes or most, most),
        handler=min(settings.handler_body_bytes or most, most),
    )
