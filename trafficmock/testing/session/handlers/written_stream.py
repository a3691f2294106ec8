"""An answer that a test writes piece by piece (feature ``stream-mocks``)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from attrs import define, field
from msgspec import UNSET

from trafficmock.testing.errors import (
    StreamClosedError,
    TestEndedError,
    UsageError,
    WaitTimeoutError,
)
from trafficmock.testing.promise import Promise, settled
from trafficmock.testing.session.observation.request_state import RequestState
from trafficmock.wire.inbound import (
    MAX_STREAM_PIECE_BYTES,
    STREAM_WINDOW_BYTES,
    STREAM_WINDOW_PIECES,
    StreamAbort,
    StreamAck,
    StreamClosed,
    StreamData,
    StreamEnd,
)
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import AbortCode

if TYPE_CHECKING:
    from trafficmock.testing.session.session import Session

STREAM_SEND_TIMEOUT: Final = 30.0
"""Seconds that ``send`` waits for the application to read."""

_WHY = {
    "application": "the application closed the answer",
    "agent": "the application's connection to the proxy is lost",
    "ended": "the test has ended",
}


@define(eq=False)
class WrittenStream:
    """The writing end of a streamed answer.

    Pieces wait here while :data:`.STREAM_WINDOW_BYTES` or :data:`.STREAM_WINDOW_PIECES` are not
    acknowledged.

    :param place: the file and line of the route.
    :ivar closed: the error of later calls; ``None`` while the stream is open.
    :ivar was_left: the application closed the answer, so that nothing is left to be ended.
    """

    session: Session
    request: RequestState
    place: str
    closed: Exception | None = field(init=False, default=None)
    was_left: bool = field(init=False, default=False)
    _seq: int = field(init=False, default=0)
    _queued: deque[tuple[bytes, Promise[None]]] = field(init=False, factory=deque, repr=False)
    _sent: deque[tuple[int, int, Promise[None]]] = field(init=False, factory=deque, repr=False)
    _in_flight: int = field(init=False, default=0)
    _last: StreamEnd | StreamAbort | None = field(init=False, default=None)
    _ended: Promise[None] | None = field(init=False, default=None)

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return self.request.id

    @property
    def subject(self) -> str:
        """The method and URL of the request."""
        return str(self.request)

    def send(self, content: bytes) -> Promise[None]:
        """Send a part of the body.

        :returns: resolved when all of it is with the application's process; rejected with
            ``StreamClosedError`` if the stream is over before, and with ``WaitTimeoutError`` if the
            application does not read for :data:`STREAM_SEND_TIMEOUT`.
        :raises UsageError: the stream was ended.
        :raises StreamClosedError: the stream is over.
        :raises TestEndedError: the test has ended.
        """
        self._check_open()
        done: Promise[None] = Promise()
        if not content:
            done.resolve(None)
            return done
        rest = range(0, len(content), MAX_STREAM_PIECE_BYTES)
        for start in rest:
            piece = content[start : start + MAX_STREAM_PIECE_BYTES]
            self._queued.append((piece, done if start == rest[-1] else Promise()))
        self._limit(done)
        self._flush()
        return done

    def end(self) -> Promise[None]:
        """End the body; the promise is as in :meth:`send`. A second call changes nothing.

        Clients close an answer when they have read what its protocol has for an end, and that may
        be before this call: it is done then.
        """
        if self._ended is not None:
            return self._ended
        return self._conclude(None)

    def abort(self, code: AbortCode) -> Promise[None]:
        """Break the answer off, after the pieces so far; done if the application closed it."""
        return self._conclude(code)

    def fail(self) -> None:
        """Break the answer off because its handler raised an error."""
        if self.closed is None and self._ended is None:
            self._queued.clear()
            self._finish("connectionreset")

    def _conclude(self, code: AbortCode | None) -> Promise[None]:
        if self.was_left and not self.session.ended:
            return settled(None)
        self._check_open()
        return self._finish(code)

    def _finish(self, code: AbortCode | None) -> Promise[None]:
        self._ended = Promise()
        self._last = (
            StreamEnd(self.request_id, 0) if code is None else StreamAbort(self.request_id, 0, code)
        )
        self._limit(self._ended)
        self._flush()
        return self._ended

    def _check_open(self) -> None:
        if self.session.ended:
            raise TestEndedError(f"{self.subject}: the test has ended")
        if self.closed is not None:
            raise self.closed
        if self._ended is not None:
            raise UsageError(f"{self.subject}: the streamed answer has been ended already")

    def _limit(self, done: Promise[None]) -> None:
        where = f" of the route at {self.place}" if self.place else ""
        text = (
            f"{self.subject}: the application has read nothing for {STREAM_SEND_TIMEOUT:g} s from "
            f"the streamed answer{where}"
        )
        cancel = self.session.client.link.call_later(
            STREAM_SEND_TIMEOUT, lambda: done.reject(WaitTimeoutError(text))
        )
        done.watch(lambda _: cancel())

    def _flush(self) -> None:
        while self._queued and len(self._sent) < STREAM_WINDOW_PIECES:
            content, done = self._queued[0]
            if self._in_flight + len(content) > STREAM_WINDOW_BYTES:
                break
            self._queued.popleft()
            self._seq += 1
            self._in_flight += len(content)
            self._sent.append((self._seq, len(content), done))
            piece = StreamData(self.request_id, self._seq, body.from_bytes(content))
            self.session.send(piece)
        if not self._queued and self._last is not None and self._ended is not None:
            self._seq += 1
            self._sent.append((self._seq, 0, self._ended))
            last, self._last = self._last, None
            if isinstance(last, StreamEnd):
                self.session.send(StreamEnd(self.request_id, self._seq))
            else:
                self.session.send(StreamAbort(self.request_id, self._seq, last.error_code))

    # Messages

    def acknowledged(self, message: StreamAck) -> None:
        """Resolve what has reached the application, and send on."""
        while self._sent and self._sent[0][0] <= message.seq:
            _, size, done = self._sent.popleft()
            self._in_flight -= size
            done.resolve(None)
        self._flush()

    def gone(self, message: StreamClosed) -> None:
        """Reject what has not reached the application: no further piece does."""
        reason = "" if message.reason is UNSET else message.reason
        text = message.message or _WHY.get(reason, "the proxy closed the answer")
        self.was_left = reason == "application"
        if self.was_left and self._ended is not None:
            self._ended.resolve(None)
        self.lost(StreamClosedError(f"{self.subject}: {text}"))

    def lost(self, error: Exception) -> None:
        """Reject all that waits, and all later calls."""
        if self.closed is None:
            self.closed = error
        for _, done in self._queued:
            done.reject(error)
        for _, _, done in self._sent:
            done.reject(error)
        if self._ended is not None:
            self._ended.reject(error)
        self._queued.clear()
        self._sent.clear()


@define(eq=False)
class WrittenStreams:
    """The streamed answers of one test, by the id of their request."""

    _open: dict[str, WrittenStream] = field(factory=dict)

    def add(self, stream: WrittenStream) -> None:
        self._open[stream.request_id] = stream

    def find(self, request_id: str) -> WrittenStream | None:
        return self._open.get(request_id)

    def end(self, error: Exception | None = None) -> None:
        """Reject what waits, because the test has ended or the connection is lost."""
        for stream in self._open.values():
            stream.lost(error or TestEndedError(f"{stream.subject}: the test has ended"))
