"""The replies that the registry keeps with their routes (feature ``reply``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field, frozen
from msgspec import UNSET

if TYPE_CHECKING:
    from msgspec import UnsetType

    from trafficmock.core.har.har_lookup import HarLookup
    from trafficmock.core.state.har_recording import HarRecording
    from trafficmock.wire.payloads.handler_action import Abort, Fault
    from trafficmock.wire.payloads.serialized_request import HeaderPairs
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


@frozen(eq=False)
class KeptResponse:
    """A response of a reply.

    :param response: the response, corrected by :func:`.sendable_response`.
    :param headers_list: the header lines as the test gave them, for observers.
    """

    response: SerializedResponse
    headers_list: HeaderPairs | UnsetType = field(repr=False)


@frozen(eq=False)
class KeptStep:
    """One answer of a sequence: a response or a failure, and the time after which it is sent.

    :param delay_ms: the time after which the response is sent; that between pieces.
    :param fault: how the response breaks, if it does.
    :param pieces: the bytes of each piece in which the body is sent; none for all at once.
    :param rate: the bytes of the body in a second; 0 for no limit.
    """

    answer: KeptResponse | Abort
    delay_ms: int | UnsetType
    fault: Fault | UnsetType = UNSET
    pieces: tuple[int, ...] = ()
    rate: int = 0


@define(eq=False)
class ReplySequence:
    """The answers to the requests of a route, one after the other; the last one is repeated.

    :ivar given: the number of requests that were answered.
    """

    steps: tuple[KeptStep, ...]
    given: int = 0

    def next_step(self) -> tuple[int, KeptStep]:
        """Return the answer to the next request, and its index."""
        index = min(self.given, len(self.steps) - 1)
        self.given += 1
        return index, self.steps[index]


@define(eq=False)
class Reply:
    """The reply of a route.

    :param kept: the response to all requests, those to one after the other, the HAR that has the
        responses to some, or the recording of those of the real server.
    :param size: the bytes that count in ``--reply-bytes``.
    :param delay_ms: the time after which the response is sent.
    """

    kept: KeptResponse | ReplySequence | HarLookup | HarRecording = field(repr=False)
    size: int = 0
    delay_ms: int | UnsetType = UNSET

    @property
    def fixed(self) -> KeptResponse | None:
        """The response to all requests."""
        return self.kept if isinstance(self.kept, KeptResponse) else None
