"""An ``IAgent`` over the forward proxy's connections to servers, for treq."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.interfaces import IConsumer, IDelayedCall, IProtocol, IReactorTime
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IResponse
from zope.interface import implementer

from trafficmock.proxy import request_target
from trafficmock.proxy.http1 import content_codings
from trafficmock.proxy.http1.forwarded_headers import forwarded_trailers
from trafficmock.proxy.http1.framing import Framing, of_content
from trafficmock.proxy.http1.heads import Pairs, ResponseHead
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.transfer.body_arrival import BodyArrival
from trafficmock.proxy.transfer.body_capture import BodyCapture
from trafficmock.proxy.upstream_errors import UpstreamError, answer_timeout, upstream_error

_HIDDEN = frozenset({b"content-encoding", b"set-cookie"})
"""Headers that treq does not get: it would decode gzip without a limit, and store cookies."""


@implementer(IBodyProducer)
@frozen
class BytesBody:
    """Produces a request's body that is in memory."""

    content: bytes = field(repr=False)

    @property
    def length(self) -> int:
        return len(self.content)

    def startProducing(self, consumer: IConsumer) -> Deferred[None]:  # noqa: N802 - Twisted's name
        consumer.write(self.content)
        return succeed(None)

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: all is written at once."""

    resumeProducing = stopProducing = pauseProducing  # noqa: N815 - Twisted's names


@implementer(IResponse)
@define(eq=False)
class UpstreamResponse:
    """A complete response, with the attributes of ``IResponse``.

    :param head: its status line and all header lines in their order.
    :param arrival: the times of the body's pieces.
    :param body: the body, not decoded.
    :param trailers: the fields behind it.
    """

    head: ResponseHead
    arrival: BodyArrival
    body: BodyCapture = field(factory=partial(BodyCapture, 0), repr=False)
    trailers: Pairs = field(factory=list, repr=False)
    request: Any = None
    previousResponse: Any = None  # noqa: N815 - Twisted's name
    version: tuple[bytes, int, int] = field(init=False, repr=False)
    code: int = field(init=False)
    phrase: bytes = field(init=False, repr=False)
    headers: Headers = field(init=False, factory=Headers, repr=False)

    def __attrs_post_init__(self) -> None:
        head = self.head
        self.version, self.code, self.phrase = (b"HTTP", 1, head.minor), head.status, head.reason
        for name, value in head.pairs:
            if name.lower() not in _HIDDEN:
                self.headers.addRawHeader(name, value)

    @property
    def length(self) -> int:
        return self.body.size

    def deliverBody(self, protocol: IProtocol) -> None:  # noqa: N802 - Twisted's name
        """Deliver the body to ``protocol``; only the first call has content."""
        protocol.dataReceived(bytes(self.body.take()))
        protocol.connectionLost(Failure(ResponseDone()))

    def setPreviousResponse(self, response: Any) -> None:  # noqa: N802 - Twisted's name
        """Set the redirect that led to this response."""
        self.previousResponse = response


@implementer(IAgent)
@frozen
class UpstreamAgent:
    """Sends each request over a new connection and collects the whole response.

    ``--resolve``, ``--upstream-proxy``, verification of certificates and loop detection apply as
    for other traffic.

    :param resources: the connections to servers, and the options.
    :param reached_at: the local address to which the client connected.
    :param limit: bytes of the largest response body, 0 for no limit.
    """

    resources: ProxyResources
    reached_at: Any
    limit: int

    def request(
        self,
        method: bytes,
        uri: bytes,
        headers: Headers | None = None,
        bodyProducer: IBodyProducer | None = None,  # noqa: N803 - Twisted's name
    ) -> Deferred[Any]:
        """Send a request; cancelling the Deferred aborts the connection.

        :returns: fires with an :class:`UpstreamResponse`, fails with :class:`UpstreamError`.
        """
        return Deferred.fromCoroutine(self._request(method, uri, headers, bodyProducer))

    async def _request(
        self, method: bytes, uri: bytes, headers: Headers | None, producer: IBodyProducer | None
    ) -> UpstreamResponse:
        target = request_target.absolute(uri, method)
        written = BytesIO()
        if producer is not None:
            await producer.startProducing(written)
        content = written.getvalue()
        headers = Headers() if headers is None else headers.copy()
        headers.setRawHeaders(b"Accept-Encoding", [content_codings.KNOWN])
        pairs = [(name, value) for name, values in headers.getAllRawHeaders() for value in values]
        head = self.resources.request_head(
            method, target.origin, target.path, pairs, of_content(content)
        )
        return await self._exchange(target.origin, method, head + content)

    async def _exchange(
        self, origin: request_target.Origin, method: bytes, data: bytes
    ) -> UpstreamResponse:
        resources = self.resources
        pool, collector = resources.pool, ResponseCollector(self.limit, resources.reactor)
        try:
            connection = await pool.connect(origin, self.reached_at)
            connection.begin(collector, method, data, complete=True, fin_is_end=True)
            collector.wait_for_head(resources.settings.response_seconds)
            try:
                response = await collector.done
            except BaseException:
                connection.cancel()
                raise
            finally:
                collector.stop_waiting()
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - explained to the test
            raise upstream_error(error, origin) from None
        pool.give_back(origin, connection)
        return response


class ResponseCollector:
    """Collects a whole response, as the ``ResponseListener`` of its connection.

    :param limit: bytes of the largest body; 0 for no limit.
    """

    def __init__(self, limit: int, clock: IReactorTime) -> None:
        self.done: Deferred[UpstreamResponse] = Deferred()
        self._limit = limit
        self._clock = clock
        self._response: UpstreamResponse | None = None
        self._timer: IDelayedCall | None = None

    def wait_for_head(self, seconds: float) -> None:
        """Fail if the response does not begin in time; its body has no time limit.

        :param seconds: the time (``--upstream-timeout-ms``); 0 for no limit.
        """
        if seconds:
            self._timer = self._clock.callLater(seconds, self._fail, answer_timeout("The server"))

    def stop_waiting(self) -> None:
        """Cancel the timer."""
        if self._timer is not None and self._timer.active():
            self._timer.cancel()

    def _fail(self, error: BaseException) -> None:
        if not self.done.called:
            self.done.errback(error)

    def interim(self, head: ResponseHead) -> None:
        """Ignore 1xx responses."""

    def response_head(self, head: ResponseHead, body: Framing) -> None:  # noqa: ARG002 - the protocol's
        self._response = UpstreamResponse(head, BodyArrival(self._clock))
        self.stop_waiting()

    def response_data(self, data: bytes) -> None:
        response = self._response
        if response is None:
            return
        response.body.add(data)
        response.arrival.add(data)
        if self._limit and response.body.size > self._limit:
            text = f"The answer has more than {self._limit} bytes (--handler-body-bytes)."
            self._fail(UpstreamError(text, code="upstream_error", errno="EFBIG"))

    def response_pause(self) -> None:
        """Do nothing: the whole body is awaited."""

    def response_end(self, trailers: Pairs) -> None:
        if self._response is not None and not self.done.called:
            self._response.trailers = forwarded_trailers(trailers)
            self.done.callback(self._response)

    def upstream_lost(self, reason: BaseException, *, answered: bool) -> None:  # noqa: ARG002 - the protocol's
        self._fail(reason)

    def server_ready(self) -> None:
        """Do nothing: the whole request was written at once."""

    server_busy = server_ready
