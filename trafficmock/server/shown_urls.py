"""Adds to messages for workers the URLs as they may be printed (feature ``shown-urls``).

The texts of the core are written for such a worker with what is secret to it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import define, field
from msgspec import structs

from trafficmock.core.effects import Send
from trafficmock.http.bounded_cache import cached_by_text
from trafficmock.redaction.redactor import Redactor
from trafficmock.wire import outbound
from trafficmock.wire.codec import MessageEncoder
from trafficmock.wire.inbound import Message

Encode = Callable[[Message], bytes]
Show = Callable[[str], str]

_OF_REQUESTS = (
    outbound.HandlerRun,
    outbound.RequestClaim,
    outbound.RequestObserved,
    outbound.RequestReplied,
)
_OF_SOCKETS = (outbound.SocketClaim, outbound.SocketMatched)


@define(eq=False)
class ShownUrls:
    """The workers that get these URLs, each with what is secret for it.

    :param redactor: that of the service.
    :ivar workers: the function that returns a shown URL, by connection; most share one.
    :ivar encoders: for those to which more is secret than to the service, or nothing; they write
        the texts of the core.
    """

    redactor: Redactor
    workers: dict[str, Show] = field(init=False, factory=dict)
    encoders: dict[str, Encode] = field(init=False, factory=dict)
    _of_service: Show = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._of_service = cached_by_text(maxsize=2000)(self.redactor.url)

    def add(self, connection_id: str, words: Iterable[str]) -> None:
        """Add a worker.

        :param words: what is secret besides the fields that the service redacts.
        """
        # The worker is told of the words that are no fields when it asks for a report.
        redactor = self.redactor.adding(words, known_only=True)
        self.workers[connection_id] = self._of_service
        if redactor != self.redactor:
            self.workers[connection_id] = cached_by_text(maxsize=200)(redactor.url)
            self.encoders[connection_id] = MessageEncoder(redactor.written).encode

    def remove(self, connection_id: str) -> None:
        """Remove a connection, if it is that of a worker."""
        self.workers.pop(connection_id, None)
        self.encoders.pop(connection_id, None)

    def of(self, connection_id: str, url: str) -> str:
        """Return a URL as a worker may print it; for all other clients as it is."""
        show = self.workers.get(connection_id)
        return url if show is None else show(url)

    def divided(self, send: Send) -> list[Send]:
        """Return a message for these workers with the shown URL, and for all others as it is."""
        message = send.message
        if isinstance(message, _OF_REQUESTS):
            url = message.request.url
        elif isinstance(message, _OF_SOCKETS):
            url = message.url
        elif len(send.to) == 1 or self.encoders.keys().isdisjoint(send.to):
            return [send]
        else:
            return [Send((to,), message) for to in send.to]
        shown: dict[str, list[str]] = {}
        for to in send.to:
            shown.setdefault(self.of(to, url), []).append(to)
        if shown.keys() == {url}:
            return [send]
        return [
            Send(tuple(to), message if text == url else structs.replace(message, shown_url=text))
            for text, to in shown.items()
        ]
