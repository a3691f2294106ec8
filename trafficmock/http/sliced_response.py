"""Responses of any size, made and written in slices, so that other connections do not wait.

Work that grows with the history stops after a slice of :data:`SLICE_SECONDS` or
:data:`SLICE_BYTES` and continues in a later iteration of the reactor. A body that fits into
one slice is written at once, with a ``content-length``.
"""

from collections.abc import Iterable, Iterator

from attrs import Factory, define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IPushProducer, IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from trafficmock.http.responses import prepare
from trafficmock.http.service_request import ServiceRequest

SLICE_BYTES = 1 << 20
"""The most bytes of a slice; its last chunk may exceed them."""

SLICE_SECONDS = 0.002
"""The most seconds of work for a slice; its last chunk may exceed them."""

STALL_SECONDS = 60.0
"""Seconds for which a client may read nothing within a response."""

ResponseHeaders = Iterable[tuple[bytes, bytes]]


@implementer(IPushProducer)
@define(eq=False)
class SlicedResponse:
    """A response that is written in slices.

    :param request: gets status 200.
    :param chunks: the body; an empty chunk stands for work without a result so far.
    :param reactor: runs other events between slices.
    :param headers: further headers of the response.
    """

    _log = Logger()

    _request: ServiceRequest
    _chunks: Iterator[bytes] = field(repr=False)
    _reactor: IReactorTime
    _headers: ResponseHeaders = field(repr=False)
    _ready: list[bytes] = field(default=Factory(list), repr=False)
    _size: int = 0
    _started: bool = False
    _paused: bool = False
    _call: IDelayedCall | None = None
    _finished: Deferred[bytes] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._finished = Deferred(lambda _: self.stopProducing())

    def send(self) -> Deferred[bytes]:
        """Make the first slice at once, and start the rest.

        :returns: fires with the last part of the body, which the caller writes: the whole body
            if it fits into one slice. Cancel it when the connection is lost.
        """
        self._turn()
        return self._finished

    def _turn(self) -> None:
        self._call = None
        try:
            done = self._work()
        except Exception:  # noqa: BLE001 - whatever a bug raises, the client must not wait
            self._fail()
            return
        if done:
            self._end()
            return
        if self._size >= SLICE_BYTES and not self._head():
            self._write()
        if not self._paused and self._call is None:
            self._call = self._reactor.callLater(0, self._turn)

    def _work(self) -> bool:
        """Collect the chunks of one slice.

        :returns: whether it was the last one.
        """
        until = self._reactor.seconds() + SLICE_SECONDS
        keep = not self._head()
        for chunk in self._chunks:
            self._size += len(chunk)
            if keep:
                self._ready.append(chunk)
                if self._size >= SLICE_BYTES:
                    return False
            if self._reactor.seconds() >= until:
                return False
        return True

    def _head(self) -> bool:
        """Return whether the request is a ``HEAD`` request."""
        return bool(self._request.method == b"HEAD")

    def _write(self) -> None:
        if not self._started:
            self._started = True
            prepare(self._request, 200, self._headers)
            self._request.registerProducer(self, True)  # noqa: FBT003 - Twisted's signature
        body = b"".join(self._ready)
        self._ready.clear()
        self._size = 0
        self._request.write(body)

    def _end(self) -> None:
        body = b"".join(self._ready)
        if self._started:
            self._request.unregisterProducer()
        else:
            prepare(self._request, 200, self._headers)
            self._request.setHeader(b"content-length", b"%d" % self._size)
        self._finished.callback(body)

    def _fail(self) -> None:
        """Respond with an error, or abort the connection if the response has begun."""
        if not self._started:
            self._finished.errback()
            return
        self._log.failure("The answer to {uri!r} broke off", uri=self._request.uri)
        self._request.transport.abortConnection()

    def _stalled(self) -> None:
        self._call = None
        self._log.info(
            "{peer} read nothing for {seconds} s in the middle of an answer: cut off",
            peer=self._request.getClientAddress(),
            seconds=STALL_SECONDS,
        )
        self._request.transport.abortConnection()

    def _cancel_call(self) -> None:
        if self._call is not None:
            self._call.cancel()
            self._call = None

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Pause until the client has read the written bytes, for :data:`STALL_SECONDS` at most."""
        self._paused = True
        self._cancel_call()
        self._call = self._reactor.callLater(STALL_SECONDS, self._stalled)

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Make the next slice in a later iteration of the reactor."""
        self._paused = False
        self._cancel_call()
        self._call = self._reactor.callLater(0, self._turn)

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._cancel_call()
        self._chunks = iter(())
        self._ready.clear()


def send_sliced(
    request: ServiceRequest,
    chunks: Iterable[bytes],
    *,
    reactor: IReactorTime,
    headers: ResponseHeaders = (),
) -> Deferred[bytes]:
    """Respond with status 200 and ``chunks`` of any length; see :class:`SlicedResponse`."""
    return SlicedResponse(request, _pieces(chunks), reactor, headers).send()


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Split chunks that are longer than a slice."""
    for chunk in chunks:
        if len(chunk) <= SLICE_BYTES:
            yield chunk
            continue
        for start in range(0, len(chunk), SLICE_BYTES):
            yield chunk[start : start + SLICE_BYTES]
