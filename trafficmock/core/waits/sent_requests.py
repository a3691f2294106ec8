"""The requests that a worker was sent, as far as its waits look at them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice

from attrs import define, field
from msgspec import UNSET, Struct, structs

from trafficmock.wire.outbound import HandlerRun, RequestObserved, RequestReplied
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import redirect_target

MOST_SENT = 10_000
"""The most requests that are kept for the waits of one worker, the newest ones."""

MOST_CHARACTERS = 8 * 2**20
"""The most characters of all their URLs and bodies; the latest request is always kept."""

LONGEST_BODY = 2**20
"""The most bytes of a body that is kept for a wait that begins later."""


class SentRequest(Struct, eq=False, gc=False):
    """A request that a worker was sent.

    :param number: its place among those of the worker.
    :param test_id: the only test of the worker that was sent it; ``None`` for all of them.
    :param at: when the worker was sent it, in epoch milliseconds.
    :param seen_at: when it came, in microseconds of the coordinator's clock; ``None`` where the
        worker was not sent that.
    :param request: the request, for conditions on more than its URL; without the body if that is
        longer than :data:`LONGEST_BODY`.
    :param handled_by: the test with a handler that ran for it.
    :param response_url: the URL of its response, once the worker was sent it.
    """

    id: str
    number: int
    url: str
    method: str
    client_id: str
    test_id: str | None
    at: int
    seen_at: int | None
    request: SerializedRequest
    handled_by: str | None = None
    response_url: str | None = None

    __repr__ = quiet_repr


@define
class SentRequests:
    """The requests that one worker was sent, oldest first."""

    _by_id: OrderedDict[str, SentRequest] = field(factory=OrderedDict)
    _count: int = 0
    _characters: int = 0

    def get(self, request_id: str) -> SentRequest | None:
        """Return a request, ``None`` if the worker was not sent it or that is long ago."""
        return self._by_id.get(request_id)

    def number_of(self, request_id: str | None) -> int:
        """Return the place of a request, 0 for one that is not kept."""
        sent = self._by_id.get(request_id or "")
        return 0 if sent is None else sent.number

    def add(self, message: RequestObserved | HandlerRun | RequestReplied, at: int) -> SentRequest:
        """Add the request of a message.

        :param at: now, in epoch milliseconds.
        """
        self._count += 1
        seen_at = UNSET if isinstance(message, HandlerRun) else message.seen_at
        sent = SentRequest(
            message.request_id,
            self._count,
            message.request.url,
            message.request.method,
            message.client_id,
            message.test_id or None,
            at,
            None if seen_at is UNSET else seen_at,
            _kept(message.request),
        )
        self._by_id[sent.id] = sent
        self._make_room(_weight(sent))
        return sent

    def responded(self, sent: SentRequest, url: str) -> None:
        """Set the URL of a request's response."""
        characters = len(url) - len(sent.response_url or "")
        sent.response_url = url
        self._make_room(characters)

    def _make_room(self, characters: int) -> None:
        """Count the characters of a URL, and drop the oldest requests above the limits."""
        self._characters += characters
        while len(self._by_id) > MOST_SENT or (
            self._characters > MOST_CHARACTERS and len(self._by_id) > 1
        ):
            _, dropped = self._by_id.popitem(last=False)
            self._characters -= _weight(dropped) + len(dropped.response_url or "")

    def after(self, number: int) -> Iterator[SentRequest]:
        """Return the requests after a place, oldest first."""
        newest = islice(reversed(self._by_id.values()), self._count - number)
        return reversed(list(newest))

    def hop_of(self, sent: SentRequest, location: str) -> SentRequest | None:
        """Return the request that followed a redirect, ``None`` if it has not come.

        :param location: as in the response.
        """
        target = redirect_target(sent.response_url or sent.url, location)
        for later in self.after(sent.number):
            if (later.client_id, later.url) == (sent.client_id, target):
                return later
        return None

    def clear(self) -> None:
        self._by_id.clear()
        self._characters = 0


def _kept(request: SerializedRequest) -> SerializedRequest:
    if not body.is_longer(request.body_base64, LONGEST_BODY):
        return request
    size = body.size(request.body_base64)
    return structs.replace(request, body_base64=body.NULL, truncated=True, body_size=size)


def _weight(sent: SentRequest) -> int:
    return len(sent.url) + body.size(sent.request.body_base64)
