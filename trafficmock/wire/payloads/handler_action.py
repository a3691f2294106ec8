"""The actions of a handler for a request: its decisions, and the fetch."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.payloads.numbers import Count, SafeInt, Times
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedResponse

AbortCode = Literal[
    "failed", "aborted", "timedout", "connectionrefused", "connectionreset", "namenotresolved"
]


Rate = Times
"""Bytes in a second."""

FaultKind = Literal["connection_reset", "empty_response", "malformed_chunk", "stall", "truncated"]


class Fault(Struct, frozen=True, rename="camel", omit_defaults=True):
    """How an answer breaks (feature ``faults``).

    :param after: the bytes of the body that are sent before.
    """

    kind: FaultKind
    after: Count | UnsetType = UNSET


class HandlerAction(Struct, frozen=True, tag_field="action", rename="camel", omit_defaults=True):
    """The parent of the actions; the tag of a class is its ``action``."""

    __repr__ = quiet_repr


class Fulfill(HandlerAction, frozen=True, tag="fulfill"):
    """The application gets this response.

    :param stream: the response is the head; its body follows in pieces (feature ``stream-mocks``).
    :param fault: how the answer breaks, if it does.
    """

    response: SerializedResponse
    stream: bool | UnsetType = UNSET
    fault: Fault | UnsetType = UNSET


class Continue(HandlerAction, frozen=True, tag="continue"):
    """The request goes upstream, with the overrides if there are any.

    :param fault: how the real answer breaks, if it does (feature ``faults``).
    """

    overrides: SerializedOverrides | UnsetType = UNSET
    fault: Fault | UnsetType = UNSET


class Abort(HandlerAction, frozen=True, tag="abort"):
    """The request fails with a network error.

    :param message: the error of the handler, if the handler raised one.
    """

    error_code: AbortCode
    message: str | UnsetType = UNSET


class SequenceStep(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One answer of a route's sequence, as the result of a handler would be.

    :param delay_ms: the milliseconds after which it is sent; with ``pieces`` those between two.
    :param pieces: the bytes of each piece in which the body of the response is sent.
    :param rate: the bytes of the body that are sent in a second; not with ``pieces``.
    """

    result: Fulfill | Abort
    delay_ms: Count | UnsetType = UNSET
    pieces: list[Count] | UnsetType = UNSET
    rate: Rate | UnsetType = UNSET

    __repr__ = quiet_repr


class Fetch(HandlerAction, frozen=True, tag="fetch"):
    """The handler fetches the upstream's response; the request stays paused.

    :param fetch_id: identifies the result, ``fetch:done``.
    """

    fetch_id: str
    overrides: SerializedOverrides | UnsetType = UNSET
    max_redirects: SafeInt | UnsetType = UNSET
    max_retries: SafeInt | UnsetType = UNSET


class Fallback(HandlerAction, frozen=True, tag="fallback"):
    """The next handler decides, with these changes to the request (feature ``chain``)."""

    overrides: SerializedOverrides | UnsetType = UNSET
