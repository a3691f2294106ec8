"""The messages of agents that let requests pass by themselves (feature ``local``)."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from trafficmock.wire.inbound import Message, RequestBody, RequestObserve, RequestResponse
from trafficmock.wire.payloads.numbers import Count
from trafficmock.wire.payloads.serialized_request import SerializedRequest

Milliseconds = Annotated[int, Meta(ge=0, le=2**31)]


class RequestPassed(Message, frozen=True, tag="request:passed"):
    """The agent let a request pass that its filter does not have.

    :param n: of the newest filter or ``sync`` that the agent had acted on by then.
    :param body_pending: as in :class:`RequestStart`.
    :param context: as in :class:`RequestStart`.
    """

    request_id: str
    client_id: str
    request: SerializedRequest
    n: Count
    body_pending: bool | UnsetType = UNSET
    context: str | UnsetType = UNSET


MOST_IN_BATCH = 1000
"""Messages in a batch; trafficmock's agents send 64."""

Batched = RequestPassed | RequestBody | RequestObserve | RequestResponse


class Batch(Message, frozen=True, tag="batch"):
    """What an agent has to tell of requests that it let pass, in order.

    :param ago: for each message the milliseconds since it was written.
    """

    messages: Annotated[list[Batched], Meta(min_length=1, max_length=MOST_IN_BATCH)]
    ago: Annotated[list[Milliseconds], Meta(min_length=1, max_length=MOST_IN_BATCH)]

    def __post_init__(self) -> None:
        """Refuse a batch in which a time is missing.

        :raises ValueError: which reading a message takes for a key that is not valid.
        """
        if len(self.ago) != len(self.messages):
            raise ValueError("`ago` must have a number for each of `messages`")


class FilterAck(Message, frozen=True, tag="filter:ack"):
    """Whatever the agent decides from now on it decides with this filter.

    :param n: of the newest ``filter:set`` or ``filter:add``.
    """

    n: Count


class Synced(Message, frozen=True, tag="synced"):
    """The agent has reported what it decided before ``sync``."""

    n: Count
