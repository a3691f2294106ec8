"""The stages of a paused request and of a WebSocket, and the steps between them.

A step that a table does not have is a fault of the core. What comes for a request in a stage that
does not want it is judged by the rule concerned: see `docs/protocol/states.md`.
"""

from __future__ import annotations

import enum

from trafficmock.errors import TrafficMockError


class IllegalStepError(TrafficMockError):
    """The core tried a step that the table of steps does not have: a fault of the core."""


class RequestStage(enum.IntEnum):
    """The stage of a request; an integer, because integers are hashed fast."""

    OBSERVED = enum.auto()
    CLAIMING = enum.auto()
    AWAITS_BODY = enum.auto()
    MATCHED = enum.auto()
    SETTLED = enum.auto()


class SocketStage(enum.IntEnum):
    """The stage of a WebSocket."""

    HELD = enum.auto()
    CLAIMING = enum.auto()
    MATCHED = enum.auto()
    CLOSING = enum.auto()
    GONE = enum.auto()


_R, _S = RequestStage, SocketStage

REQUEST_STEPS: dict[RequestStage, frozenset[RequestStage]] = {
    _R.OBSERVED: frozenset({_R.CLAIMING, _R.AWAITS_BODY, _R.MATCHED, _R.SETTLED}),
    _R.CLAIMING: frozenset({_R.AWAITS_BODY, _R.MATCHED, _R.SETTLED}),
    _R.AWAITS_BODY: frozenset({_R.CLAIMING, _R.MATCHED, _R.SETTLED}),
    _R.MATCHED: frozenset({_R.SETTLED}),
    _R.SETTLED: frozenset(),
}

SOCKET_STEPS: dict[SocketStage, frozenset[SocketStage]] = {
    _S.HELD: frozenset({_S.CLAIMING, _S.MATCHED, _S.GONE}),
    _S.CLAIMING: frozenset({_S.MATCHED, _S.GONE}),
    _S.MATCHED: frozenset({_S.CLOSING, _S.GONE}),
    _S.CLOSING: frozenset({_S.GONE}),
    _S.GONE: frozenset(),
}

REQUEST_MEANINGS: dict[RequestStage, str] = {
    _R.OBSERVED: "was announced, and its routes are looked up",
    _R.CLAIMING: "waits for the answers of the tests that were asked whether a route matches",
    _R.AWAITS_BODY: "waits for its body, which a condition of a route compares",
    _R.MATCHED: "belongs to a test, whose answer or handler decides",
    _R.SETTLED: "is decided; the agent has the decision",
}
"""What is true of a request in each stage."""

SOCKET_MEANINGS: dict[SocketStage, str] = {
    _S.HELD: "was announced, and its routes are looked up",
    _S.CLAIMING: "waits for the answers of the tests that were asked whether a route matches",
    _S.MATCHED: "belongs to a test, whose handler has both sides",
    _S.CLOSING: "is being closed by its page",
    _S.GONE: "is over for the coordinator",
}
"""What is true of a WebSocket in each stage."""
