"""The life of a client's connection to the forward proxy, as one table."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """What the connection does with the bytes that the client sends."""

    AWAITING_HEAD = "reads the head of the next request"
    READING_BODY = "reads the body of a request"
    ANSWERING = "keeps what comes for later; a request that is here whole is answered"
    HALF_CLOSED = "nothing more comes; the last request is answered"
    UPGRADED = "leaves the bytes to another protocol"
    CLOSING = "drops what comes; the connection ends when all is written"
    LOST = "the connection is gone, or handed to another service"

    following: tuple[State, ...]


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
    # On the state itself: each request takes two steps, and an Enum is slow to hash.
    _state.following = _following


def step(state: State, following: State) -> State:
    """Give the state after ``state`` where ``following`` is asked for.

    An end may be asked for twice, by the client and by the request that it gives up: what the
    table does not allow changes nothing.
    """
    return following if following in state.following else state
