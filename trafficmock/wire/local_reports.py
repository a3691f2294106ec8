"""The messages by which agents report what they do not ask about.

These are requests that they let pass (feature ``local``), contexts that come in, and requests to
hosts that they ignore (feature ``seen-contexts``).
"""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from trafficmock.wire.inbound import Message, RequestBody, RequestObserve, RequestResponse
from trafficmock.wire.payloads.numbers import Count
from trafficmock.wire.payloads.serialized_request import NonEmpty, SerializedRequest

ShownText = Annotated[str, Meta(min_length=1, max_length=4096)]

Milliseconds = Annotated[int, Meta(ge=0, le=2**31)]


class RequestPassed(Message, frozen=True, tag="request:passed"):
    """The agent let a request pass that its filter does not match.

    :param n: the ``n`` of the latest filter or ``sync`` that the agent had handled by then.
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
"""The most messages of a batch; trafficmock's agents send 64."""

Batched = RequestPassed | RequestBody | RequestObserve | RequestResponse


class Batch(Message, frozen=True, tag="batch"):
    """Several messages about requests that the agent let pass, in the order of the events.

    :param ago: for each message its age in milliseconds.
    """

    messages: Annotated[list[Batched], Meta(min_length=1, max_length=MOST_IN_BATCH)]
    ago: Annotated[list[Milliseconds], Meta(min_length=1, max_length=MOST_IN_BATCH)]

    def __post_init__(self) -> None:
        """Check that each message has an age.

        :raises ValueError: otherwise; msgspec reports it as a validation error.
        """
        if len(self.ago) != len(self.messages):
            raise ValueError("`ago` must have a number for each of `messages`")


class FilterAck(Message, frozen=True, tag="filter:ack"):
    """The agent decides about all later requests by this filter.

    :param n: the ``n`` of the latest ``filter:set`` or ``filter:add``.
    """

    n: Count


class Synced(Message, frozen=True, tag="synced"):
    """The agent has reported all requests that it let pass before ``sync`` arrived."""

    n: Count


class ContextSeen(Message, frozen=True, tag="context:seen"):
    """A request with a context came into the agent's process (feature ``seen-contexts``).

    It is told once for each context: the request may be answered without any outbound request.

    :param context: as in :class:`~trafficmock.wire.inbound.RequestStart`.
    """

    context: str


class RunsTests(Message, frozen=True, tag="agent:tests"):
    """The agent's process runs tests from now on, besides the application perhaps, or does no more.

    What it sends to its own machine is a test's call to the application: only a route whose URL
    names the origin takes that.
    """

    running: bool


class LibraryUnhooked(Message, frozen=True, tag="agent:unhooked"):
    """The agent could not change a library, whose jobs would have another test's context.

    :param file: the file that it is a part of.
    """

    library: ShownText
    file: ShownText


class RequestIgnored(Message, frozen=True, tag="request:ignored"):
    """A request went past the proxy, because the agent is told to ignore its host.

    Hosts under test are not told of (feature ``seen-contexts``).

    :param method: ``CONNECT`` where the agent sees only the connection.
    :param context: as in :class:`~trafficmock.wire.inbound.RequestStart`.
    """

    method: NonEmpty
    url: NonEmpty
    context: str | UnsetType = UNSET
