"""The route of a streamed answer that the test itself writes, and the wait for its request."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from trafficmock.testing.errors import WaitTimeoutError
from trafficmock.testing.promise import Promise
from trafficmock.testing.session.handlers.routed_request import RoutedRequest
from trafficmock.testing.session.handlers.written_stream import WrittenStream
from trafficmock.testing.session.observation.waiting import DEFAULT_TIMEOUT_MS
from trafficmock.testing.session.ports import Done, ProxyLink


@define(eq=False, repr=False)
class AwaitedStream:
    """A streamed answer whose request may not have come yet.

    :param link: the timers.
    :param name: the route, for messages.
    """

    link: ProxyLink
    name: str
    _begun: Promise[WrittenStream] = field(init=False, factory=Promise)

    def __repr__(self) -> str:
        return self._begun.value.subject if self._begun.done else self.name

    def begin(self, routed: RoutedRequest, options: dict[str, Any], done: Done) -> None:
        """Answer the request that came, in the place of a handler."""
        try:
            self.began(*routed.stream(options))
        except Exception as error:  # noqa: BLE001 - it goes to the test's errors
            done(None, error)
        else:
            done(None, None)

    def began(self, stream: WrittenStream, read: Promise[None]) -> Promise[None]:
        """Set the stream that a handler began; return when its options are read."""
        self._begun.resolve(stream)
        return read

    def wait(self) -> Promise[WrittenStream]:
        """Return a promise of the stream; it is rejected if no request comes for 30 s."""
        if self._begun.done:
            return self._begun
        result: Promise[WrittenStream] = Promise()
        seconds = DEFAULT_TIMEOUT_MS / 1000
        text = f"no request came for {seconds:g} s that the streamed answer {self.name} is for"
        cancel = self.link.call_later(seconds, lambda: result.reject(WaitTimeoutError(text)))
        result.watch(lambda _: cancel())
        self._begun.watch(lambda begun: result.resolve(begun.value))
        return result
