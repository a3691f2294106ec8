"""What a route has recorded: requests, and the answers of the real server."""

from __future__ import annotations

from attrs import define, field, frozen

from trafficmock.wire.payloads.serialized_har import SerializedRecording
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse


@frozen(eq=False)
class Exchange:
    """A request, and its response or the text of its failure.

    :param began: the time of the request, in epoch milliseconds.
    :param took: the time until the response was there, in milliseconds.
    """

    request: SerializedRequest = field(repr=False)
    response: SerializedResponse | str = field(repr=False)
    began: int
    took: int


@define(eq=False)
class HarRecording:
    """The recording of a route, oldest exchange first. It ends with its test."""

    options: SerializedRecording
    exchanges: list[Exchange] = field(factory=list, repr=False)
