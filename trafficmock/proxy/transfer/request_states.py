"""The states of a request through the forward proxy, of its body, and of its way to a server.

Each table says what may follow a state. What is not in it has one answer, given by the method that
changes the state: it is ignored, since the request is over or decided already.
"""

from __future__ import annotations

from enum import Enum

from trafficmock.wire import outbound
from trafficmock.wire.inbound import Message, StreamAbort, StreamData, StreamEnd


class ProxiedRequestState(Enum):
    """Who has the request, and whether the client has a part of its answer."""

    UNDECIDED = "waits for the decision"
    FORWARDED = "goes to the server"
    STREAMED = "is answered in pieces that come from a test"
    BROKEN_OFF = "gets no more of its answer; the connection is reset later, or by the client"
    SETTLED = "is over"

    following: tuple[ProxiedRequestState, ...]
    """The states that it may change to."""

    messages: tuple[type[Message], ...]
    """The messages of the coordinator that it takes; others come too late and are ignored."""


class BodyState(Enum):
    """How much of the request's body has come, and who has it."""

    ARRIVING = "arrives"
    WANTED = "arrives, to be reported whole"
    OVERSIZED = "is larger than a test may have; its size is reported"
    ARRIVED = "has come whole"
    REPORTED = "is with the coordinator"

    following: tuple[BodyState, ...]
    """The states that it may change to."""

    is_complete: bool
    """Whether the client has sent all of it."""

    is_known: bool
    """Whether the coordinator needs nothing more of it."""


class TransferState(Enum):
    """How far the exchange with a server is."""

    CONNECTING = "waits for a connection"
    REQUESTING = "sends the request; the response has not begun"
    ANSWERING = "passes the response on"
    WRITING_OUT = "writes the rest of the response at the rate of a test; the server has ended it"
    OVER = "is over"

    following: tuple[TransferState, ...]
    """The states that it may change to."""


_DECISIONS: tuple[type[Message], ...] = (
    outbound.DecisionPassthrough,
    outbound.DecisionContinue,
    outbound.DecisionFulfill,
    outbound.DecisionAbort,
    outbound.DecisionError,
)

# Attributes of the states, because looking up an Enum in a dict hashes it, which is slow.
_R, _B, _T = ProxiedRequestState, BodyState, TransferState

_R.UNDECIDED.following = (_R.FORWARDED, _R.STREAMED, _R.BROKEN_OFF, _R.SETTLED)
_R.FORWARDED.following = (_R.BROKEN_OFF, _R.SETTLED)
_R.STREAMED.following = (_R.SETTLED,)
_R.BROKEN_OFF.following = (_R.SETTLED,)
_R.SETTLED.following = ()

_R.UNDECIDED.messages = (*_DECISIONS, outbound.DecisionFetch, outbound.NeedBody)
_R.FORWARDED.messages = ()
_R.STREAMED.messages = (StreamData, StreamEnd, StreamAbort)
_R.BROKEN_OFF.messages = ()
_R.SETTLED.messages = ()

_B.ARRIVING.following = (_B.WANTED, _B.ARRIVED)
_B.WANTED.following = (_B.OVERSIZED, _B.ARRIVED)
_B.OVERSIZED.following = (_B.REPORTED,)
_B.ARRIVED.following = (_B.REPORTED,)
_B.REPORTED.following = ()
for _body in BodyState:
    _body.is_complete = _body in {_B.ARRIVED, _B.REPORTED}
    _body.is_known = _body in {_B.OVERSIZED, _B.REPORTED}

_T.CONNECTING.following = (_T.REQUESTING, _T.OVER)
_T.REQUESTING.following = (_T.CONNECTING, _T.ANSWERING, _T.OVER)
_T.ANSWERING.following = (_T.WRITING_OUT, _T.OVER)
_T.WRITING_OUT.following = (_T.OVER,)
_T.OVER.following = ()
