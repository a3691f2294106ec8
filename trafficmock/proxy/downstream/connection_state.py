"""The states of a client's connection to the forward proxy, and the table of transitions."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """How the connection handles the client's bytes."""

    AWAITING_HEAD = "reads the head of the next request"
    READING_BODY = "reads the body of a request"
    ANSWERING = "buffers pipelined bytes; a complete request is being answered"
    HALF_CLOSED = "the client sent FIN; the last request is being answered"
    UPGRADED = "passes the bytes to another protocol"
    CLOSING = "drops the bytes; closes once everything is written"
    LOST = "the connection is lost, or was handed to the service"

    following: tuple[State, ...]
    """The states that it may change to."""


_STEPS: dict[State, tuple[State, ...]] = {
    State.AWAITING_HEAD: (
        State.READING_BODY,
        State.ANSWERING,
        State.UPGRADED,
        State.CLOSING,
        State.LOST,
    ),
    State.READING_BODY: (State.ANSWERING, State.CLOSING, State.LOST),
    State.ANSWERING: (State.AWAITING_HEAD, State.HALF_CLOSED, State.CLOSING, State.LOST),
    State.HALF_CLOSED: (State.CLOSING, State.LOST),
    State.UPGRADED: (State.AWAITING_HEAD, State.CLOSING, State.LOST),
    State.CLOSING: (State.LOST,),
    State.LOST: (),
}
for _state, _following in _STEPS.items():
    # An attribute of the state, because looking up an Enum in a dict hashes it, which is slow.
    _state.following = _following
