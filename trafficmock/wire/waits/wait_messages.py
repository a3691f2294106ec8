"""The messages by which workers register waits, and the coordinator ends them."""

from typing import Literal

from msgspec import UNSET, UnsetType

from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads.numbers import Count, SafeInt
from trafficmock.wire.payloads.serialized_matcher import PlacedValues, SerializedMatcher

WaitKind = Literal["request", "response"]


class WaitRegister(Message, frozen=True, tag="wait:register"):
    """A test waits for a later request or response.

    :param timeout_ms: the milliseconds after which the wait is overdue; absent for no limit.
    :param since: when the wait began, by the coordinator's monotonic clock in microseconds; absent
        for the time at which the message arrives.
    :param after: the latest request that the test had been sent when the wait began.
    """

    wait_id: str
    test_id: str
    kind: WaitKind
    matcher: SerializedMatcher
    timeout_ms: Count | UnsetType = UNSET
    since: SafeInt | UnsetType = UNSET
    after: str | UnsetType = UNSET


class WaitJudge(Message, frozen=True, tag="wait:judge"):
    """The question whether a request, or its response, meets a wait.

    It is sent for a predicate, and for a pattern that the coordinator cannot compare. The worker
    was sent the request and the response before.

    :param values: those at the places of the functions of the wait's matcher.
    """

    wait_id: str
    test_id: str
    request_id: str
    values: list[PlacedValues] | UnsetType = UNSET


class WaitJudged(Message, frozen=True, tag="wait:judged"):
    """Answers ``wait:judge``."""

    wait_id: str
    request_id: str
    met: bool


class WaitCancel(Message, frozen=True, tag="wait:cancel"):
    """The test gave a wait up; there is no answer."""

    wait_id: str


class WaitMet(Message, frozen=True, tag="wait:met"):
    """This request, or its response, met the wait; the worker was sent it before."""

    wait_id: str
    request_id: str


class WaitOverdue(Message, frozen=True, tag="wait:overdue"):
    """Nothing met the wait in time, or it was refused.

    :param text: the requests that came instead, in lines for the error of the wait.
    :param error: why its glob is invalid; then the text is empty.
    """

    wait_id: str
    text: str = ""
    error: str | UnsetType = UNSET
