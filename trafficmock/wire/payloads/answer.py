"""Answers: what a request gets, and how; and the fetch of a handler, which is none.

An answer is one value. A handler's result is one, a route that the proxy answers has a list of
them, and a HAR yields them. A worker of the npm packages sends the same keys without those that say
how.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.payloads.answer_options import WrittenOptions
from trafficmock.wire.payloads.numbers import Count, SafeInt, Times
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedResponse

AbortCode = Literal[
    "failed", "aborted", "timedout", "connectionrefused", "connectionreset", "namenotresolved"
]


Rate = Times
"""Bytes in a second."""

Piece = tuple[Count, Count]
"""The milliseconds before a piece of a body, and its bytes."""

FaultKind = Literal["connection_reset", "empty_response", "malformed_chunk", "stall", "truncated"]


class Fault(Struct, frozen=True, rename="camel", omit_defaults=True):
    """How an answer breaks (feature ``faults``).

    :param after: the bytes of the body that are sent before.
    """

    kind: FaultKind
    after: Count | UnsetType = UNSET


class BodyWay(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What an agent does to the body of an answer (feature ``faults``).

    :param then: the fault that follows the first bytes.
    :param after: the number of these. Where it is missing, ``truncated`` follows half of the body,
        and others come in the place of the answer.
    :param slice: the bytes that the application gets at once.
    :param pause: the milliseconds after each slice.
    """

    then: FaultKind | UnsetType = UNSET
    after: Count | UnsetType = UNSET
    slice: Times | UnsetType = UNSET
    pause: Count | UnsetType = UNSET


class HandlerAction(Struct, frozen=True, tag_field="action", rename="camel", omit_defaults=True):
    """The parent of the actions of a handler; the tag of a class is its ``action``."""

    __repr__ = quiet_repr


class Answer(HandlerAction, frozen=True, kw_only=True):
    """The parent of the answers.

    :param delay_ms: the milliseconds after which it is given.
    """

    delay_ms: Count | UnsetType = UNSET


class Fulfill(Answer, frozen=True, tag="fulfill"):
    """The application gets this response.

    :param stream: the response is the head; its body follows in pieces (feature ``stream-mocks``).
    :param pieces: the pieces in which the body is sent, one after the other.
    :param rate: the bytes of the body that are sent in a second; not with ``pieces``.
    :param fault: how the answer breaks, if it does; not with ``pieces`` or ``rate``.
    """

    response: SerializedResponse
    stream: bool | UnsetType = UNSET
    pieces: list[Piece] | UnsetType = UNSET
    rate: Rate | UnsetType = UNSET
    fault: Fault | UnsetType = UNSET


class Continue(Answer, frozen=True, tag="continue"):
    """The request goes upstream, with the overrides if there are any.

    :param rate: the bytes of the real body that the application gets in a second.
    :param fault: how the real answer breaks, if it does (feature ``faults``); not with ``rate``.
    """

    overrides: SerializedOverrides | UnsetType = UNSET
    rate: Rate | UnsetType = UNSET
    fault: Fault | UnsetType = UNSET


class Abort(Answer, frozen=True, tag="abort"):
    """The request fails with a network error.

    :param message: the error of the handler, if the handler raised one.
    """

    error_code: AbortCode
    message: str | UnsetType = UNSET


class Fallback(Answer, frozen=True, tag="fallback"):
    """The next handler decides, with these changes to the request (feature ``chain``)."""

    overrides: SerializedOverrides | UnsetType = UNSET


class Written(HandlerAction, frozen=True, tag="written"):
    """The decision of a handler as the test has written it; ``handler:read`` answers it.

    :param call: ``stream`` begins an answer whose body follows.
    :param options: those of the answer.
    :param overrides: the changes of ``continue`` to the request.
    """

    call: Literal["fulfill", "stream", "continue", "abort"]
    options: WrittenOptions
    overrides: SerializedOverrides | UnsetType = UNSET


class Fetch(HandlerAction, frozen=True, tag="fetch"):
    """The handler fetches the upstream's response; the request stays paused.

    :param fetch_id: identifies the result, ``fetch:done``.
    """

    fetch_id: str
    overrides: SerializedOverrides | UnsetType = UNSET
    max_redirects: SafeInt | UnsetType = UNSET
    max_retries: SafeInt | UnsetType = UNSET
