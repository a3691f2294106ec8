"""What a route has recorded: requests, and the answers of the real server."""

from __future__ import annotations

from attrs import define, field, frozen
from msgspec import UNSET

from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_har import SerializedRecording
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

_EXCHANGE_SIZE = 200
"""What an exchange counts for beside its texts."""


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

    @property
    def size(self) -> int:
        """The bytes that count in ``--recording-bytes``: texts as they are, bodies in base64."""
        request, response = self.request, self.response
        if isinstance(response, str):
            answer = len(response)
        else:
            answer = head_size(response) + body.letters(response.body_base64)
        sent = len(request.url) + head_size(request) + body.letters(request.body_base64)
        return _EXCHANGE_SIZE + sent + answer


def head_size(message: SerializedRequest | SerializedResponse) -> int:
    """Return the length of the header lines of a message."""
    lines = message.headers.items() if message.headers_list is UNSET else message.headers_list
    return sum(len(name) + len(value) for name, value in lines)


@define(eq=False)
class HarRecording:
    """The recording of a route, oldest exchange first. It ends with its test.

    :ivar size: the bytes that count in ``--recording-bytes``.
    :ivar is_dropped: whether it had no room there: then it has no exchanges any more, because a
        part of a recording is worth nothing.
    """

    options: SerializedRecording
    exchanges: list[Exchange] = field(factory=list, repr=False)
    size: int = field(default=0, init=False)
    is_dropped: bool = field(default=False, init=False)

    def add(self, exchange: Exchange, room: int | None) -> None:
        """Add an exchange.

        :param room: the bytes that are left for it; ``None`` for any number.
        """
        if self.is_dropped:
            return
        size = exchange.size
        if room is not None and size > room:
            self.is_dropped, self.size = True, 0
            self.exchanges.clear()
            return
        self.exchanges.append(exchange)
        self.size += size
