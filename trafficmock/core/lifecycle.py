"""The lives of requests and WebSockets, each as one table of the steps there are."""

import enum

from trafficmock.errors import TrafficMockError


class IllegalStepError(TrafficMockError):
    """The core tried a step that its table does not have: a mistake of ours."""


class RequestStage(enum.IntEnum):
    """How far a request has come; a number, because those are quickly looked up."""

    OBSERVED = enum.auto()
    CLAIMING = enum.auto()
    AWAITS_BODY = enum.auto()
    MATCHED = enum.auto()
    SETTLED = enum.auto()


class SocketStage(enum.IntEnum):
    """How far a WebSocket has come."""

    HELD = enum.auto()
    CLAIMING = enum.auto()
    MATCHED = enum.auto()
    CLOSING = enum.auto()
    GONE = enum.auto()


REQUEST_STEPS = {
    RequestStage.OBSERVED: frozenset(
        {
            RequestStage.CLAIMING,
            RequestStage.AWAITS_BODY,
            RequestStage.MATCHED,
            RequestStage.SETTLED,
        }
    ),
    RequestStage.CLAIMING: frozenset(
        {RequestStage.AWAITS_BODY, RequestStage.MATCHED, RequestStage.SETTLED}
    ),
    RequestStage.AWAITS_BODY: frozenset({RequestStage.MATCHED, RequestStage.SETTLED}),
    RequestStage.MATCHED: frozenset({RequestStage.SETTLED}),
    RequestStage.SETTLED: frozenset[RequestStage](),
}

SOCKET_STEPS = {
    SocketStage.HELD: frozenset({SocketStage.CLAIMING, SocketStage.GONE}),
    SocketStage.CLAIMING: frozenset({SocketStage.MATCHED, SocketStage.GONE}),
    SocketStage.MATCHED: frozenset({SocketStage.CLOSING, SocketStage.GONE}),
    SocketStage.CLOSING: frozenset({SocketStage.GONE}),
    SocketStage.GONE: frozenset[SocketStage](),
}


def request_step(current: RequestStage, following: RequestStage) -> RequestStage:
    """Give ``following`` back when a request may go there.

    :raises IllegalStepError: when the table has no such step.
    """
    if following not in REQUEST_STEPS[current]:
        raise IllegalStepError(f"a request cannot go from {current.name} to {following.name}")
    return following


def socket_step(current: SocketStage, following: SocketStage) -> SocketStage:
    """Give ``following`` back when a WebSocket may go there.

    :raises IllegalStepError: when the table has no such step.
    """
    if following not in SOCKET_STEPS[current]:
        raise IllegalStepError(f"a socket cannot go from {current.name} to {following.name}")
    return following
