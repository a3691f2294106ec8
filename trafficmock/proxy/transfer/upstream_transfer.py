"""Streams a request to a server and the response to the client, and reports both.

Neither is buffered whole: the reports have copies of the bodies, with a limit (feature ``stream``).
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall
from twisted.logger import Logger
from twisted.python.failure import Failure

from trafficmock.http.hosts import Authority
from trafficmock.proxy.http1.attached_clients import understands_failures
from trafficmock.proxy.http1.forwarded_headers import (
    LAST_CHUNK,
    chunk,
    end_to_end,
    forwarded_trailers,
    last_chunk,
    response_block,
)
from trafficmock.proxy.http1.framing import BodyKind, Framing, of_content
from trafficmock.proxy.http1.heads import Pairs, ResponseHead
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.transfer.answer_changes import BrokenAnswer, RatedBody
from trafficmock.proxy.transfer.body_capture import BodyCapture, response_of
from trafficmock.proxy.transfer.request_rewriting import Rewritten
from trafficmock.proxy.transfer.request_states import TransferState
from trafficmock.proxy.upstream.server_protocols import Accepted
from trafficmock.proxy.upstream.upstream_connection import UpstreamConnection, refuses_http_1_1
from trafficmock.proxy.upstream_errors import (
    UPSTREAM_CLOSED,
    UpstreamError,
    answer_timeout,
    upstream_error,
)
from trafficmock.wire.inbound import RequestBody, RequestResponse
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.answer import BodyWay
from trafficmock.wire.payloads.serialized_response import SerializedResponse, redirect_target

if TYPE_CHECKING:
    from trafficmock.proxy.transfer.proxied_request import ProxiedRequest

_REPEATABLE = frozenset({b"GET", b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"})
"""Idempotent methods, whose requests may be sent again (RFC 9110 section 9.2.2)."""

_UNCERTIFIED = frozenset({400, 401, 403, 495, 496})
"""Statuses of the answers to requests that lack a client certificate; nginx has the last two."""


class UpstreamTransfer:
    """Streams one request to a server; the :class:`ResponseListener` of the response.

    :param proxied: the request, whose callbacks are called at the end.
    :param request: the request with the overrides applied.
    :param unreported: the part of the body that has arrived; ``None`` if the coordinator has the
        body.
    :param way: what happens to the body of the answer on its way back.
    """

    log = Logger()

    def __init__(
        self,
        proxied: ProxiedRequest,
        request: Rewritten,
        unreported: bytes | None,
        *,
        way: BodyWay | UnsetType = UNSET,
    ) -> None:
        self._proxied = proxied
        self._proxy_client = proxied.proxy_client
        self._client = proxied.client
        self._resources = proxied.resources
        self._request = request
        self._early = proxied.content() if request.content is None else request.content
        self._complete = proxied.body_state.is_complete
        self._streams = not self._complete
        self._framing = proxied.body if self._streams else of_content(self._early)
        self._client_minor = proxied.head.minor
        self.state = TransferState.CONNECTING
        self._upstream: UpstreamConnection | None = None
        self._opening: Deferred[Any] | None = None
        self._fresh = True
        self._timer: IDelayedCall | None = None
        self._chunked = False
        self._until_close = False
        self._consumed = False
        self._out: list[bytes] = []
        self._limit = 0 if self._proxy_client is None else self._proxy_client.limits.history
        self._sent: BodyCapture | None = None
        self._head: ResponseHead | None = None
        self._pairs: Pairs = []
        self._trailers: Pairs = []
        self._received: BodyCapture | None = None
        self._head_reported = False
        self._end_reported = False
        self._way = way
        self._broken = BrokenAnswer(way) if way and way.then else None
        self._rated: RatedBody | None = None
        if unreported is not None and self._proxy_client is not None:
            self._sent = BodyCapture(self._limit)
            self._sent.add(unreported)

    def __repr__(self) -> str:
        """Return the id and the state, for log lines."""
        return f"<transfer of {self._proxied.id} {self.state.value}>"

    def _enter(self, state: TransferState) -> bool:
        """Change the state, and return whether the table allows it."""
        allowed = state in self.state.following
        if allowed:
            self.state = state
        return allowed

    @property
    def answered(self) -> bool:
        """Whether the response has begun."""
        return self._head is not None

    # The request

    def start(self, *, again: bool = False) -> None:
        """Get a connection to the server and send the request over it.

        :param again: whether to use a new connection, because the server closed the pooled one.
        """
        origin, pool = self._request.origin, self._resources.pool
        upstreams = self._client.upstreams
        connection = None if again else upstreams.take(origin, repeatable=self._repeatable)
        self._fresh = connection is None
        if connection is not None:
            self._send(connection)
        else:
            self._opening = pool.connect(origin, self._client.local())
            self._opening.addCallbacks(self._opened, self._not_opened)

    def data(self, data: bytes) -> None:
        if self._sent is not None:
            self._sent.add(data)
        if self.state is TransferState.CONNECTING:
            self._early += data
            self._client.hold_body(hold=True)
        elif self._upstream is not None:
            self._upstream.send(self._coded(data), complete=False)

    def end(self) -> None:
        self._complete = True
        if self._upstream is not None:
            self._upstream.send(self._last(), complete=True)
            self._begin_waiting()

    def cancel(self) -> None:
        """Cancel the transfer."""
        if not self._end():
            return
        connection, self._upstream = self._upstream, None
        if connection is not None:
            connection.cancel()
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.cancel()

    @property
    def _is_tied(self) -> bool:
        """Whether the client would have this very connection to the server without the proxy."""
        return self._client.upstreams is not self._resources.pool

    @property
    def _repeatable(self) -> bool:
        return not self._streams and self._request.method in _REPEATABLE

    def _opened(self, connection: UpstreamConnection) -> None:
        self._opening = None
        self._send(connection)

    def _not_opened(self, failure: Failure) -> None:
        self._opening = None
        if self.state is not TransferState.OVER:
            self._learn(failure.value)
            self._fail(upstream_error(failure.value, self._request.origin))

    def _learn(self, error: BaseException | None) -> None:
        """Let the next tunnel to a server be left alone, if it speaks with another client only.

        :param error: of the request; ``None`` if the server's answer says that it refuses it.
        """
        origin = self._request.origin
        if origin.scheme != "https":
            return
        if refuses_http_1_1(error):
            accepted = Accepted.OTHERS
        elif self._resources.dialer.trust.asks_for_certificate(origin):
            accepted = Accepted.CERTIFIED
        else:
            return
        self._resources.protocols.note(Authority(origin.host, origin.port), accepted)
        self._proxied.keep = False

    def _send(self, connection: UpstreamConnection) -> None:
        self._upstream = connection
        self._enter(TransferState.REQUESTING)
        request, early = self._request, self._early
        data = self._resources.request_head(
            request.method, request.origin, request.path, request.pairs, self._framing
        )
        if early:
            data += self._coded(early)
        if self._complete:
            data += self._last()
        if self._streams:
            self._early = b""
        connection.begin(
            self,
            request.method,
            data,
            complete=self._complete,
            fin_is_end=understands_failures(self._proxied.head),
        )
        if self._complete:
            self._begin_waiting()
        else:
            self._client.hold_body(hold=False)

    def _coded(self, data: bytes) -> bytes:
        return chunk(data) if self._framing.kind is BodyKind.CHUNKED else data

    def _last(self) -> bytes:
        return LAST_CHUNK if self._framing.kind is BodyKind.CHUNKED else b""

    def _begin_waiting(self) -> None:
        seconds = self._resources.settings.response_seconds
        if seconds and self.state is TransferState.REQUESTING:
            self._timer = self._resources.reactor.callLater(seconds, self._too_slow)

    def _too_slow(self) -> None:
        self._timer = None
        self.cancel()
        error = answer_timeout(self._request.origin)
        self.report_end(error)
        self._proxied.failed_upstream(error)

    # The answer

    def interim(self, head: ResponseHead) -> None:
        """Forward a 1xx response, if the client speaks HTTP/1.1, and has had no such 100 yet."""
        is_told = head.status == HTTPStatus.CONTINUE and self._proxied.was_continued
        if self._client_minor > 0 and not is_told:
            self._client.write(
                response_block(
                    head.status, head.reason, end_to_end(head), chunked=False, close=False, via=b""
                )
            )

    def response_head(self, head: ResponseHead, body: Framing) -> None:
        """Begin the response to the client."""
        self._stop_timer()
        if head.status in _UNCERTIFIED:
            self._learn(None)
        broken = self._broken
        if broken is not None and broken.is_unanswered:
            self._break(broken)
            return
        if broken is not None and not broken.begin(body):
            self._broken = broken = None
        without_length = broken is not None and broken.way.then == "malformed_chunk"
        unknown = without_length or body.kind in {BodyKind.CHUNKED, BodyKind.UNTIL_CLOSE}
        self._chunked = unknown and self._client_minor > 0
        self._until_close = unknown and not self._chunked
        keep = self._proxied.keep and self._complete and not self._until_close
        if self._is_tied and self._upstream is not None:
            keep = keep and self._upstream.will_be_kept
        self._proxied.keep = keep
        pairs = end_to_end(head)
        self._head, self._pairs = head, pairs
        self._enter(TransferState.ANSWERING)
        if body.kind is not BodyKind.NONE and self._proxy_client is not None:
            self._received = BodyCapture(self._limit)
        if without_length or body.kind is BodyKind.CHUNKED:
            pairs = [pair for pair in pairs if pair[0].lower() != b"content-length"]
        self._out.append(
            response_block(head.status, head.reason, pairs, chunked=self._chunked, close=not keep)
        )
        if broken is not None and broken.left == 0:
            self._break(broken)
        elif self._way and self._way.slice and self._upstream is not None:
            clock, pause = self._resources.reactor, (self._way.pause or 0) / 1000
            self._rated = RatedBody(self._way.slice, pause, clock, self._write_part, self._upstream)

    def response_data(self, data: bytes) -> None:
        """Buffer a piece of the body until :meth:`response_pause` or the end."""
        broken = self._broken
        if broken is not None:
            data = broken.take(data)
        if self._received is not None:
            self._received.add(data)
        if self._rated is not None:
            self._flush()
            self._rated.data(data)
            return
        if data:
            self._out.append(chunk(data) if self._chunked else data)
        if broken is not None and broken.left == 0:
            self._break(broken)

    def _write_part(self, data: bytes) -> None:
        self._client.write(chunk(data) if self._chunked else data)

    def _break(self, broken: BrokenAnswer) -> None:
        """Let the fault follow what has come, and read no more of the server's answer."""
        self.cancel()
        self._flush()
        self.report_end(broken.error())
        self._proxied.break_off(broken.way)

    def response_pause(self) -> None:
        """Send the buffered pieces, and apply the client's backpressure to the server."""
        if self._upstream is None or not self.answered:
            return
        if not self._consumed:
            self._consumed = True
            self._client.consume(self._rated or self._upstream)
        self._flush()
        self._report_head()

    def response_end(self, trailers: Pairs) -> None:
        """Send the rest, report the end, and reuse both connections."""
        self._trailers = forwarded_trailers(trailers)
        if self._broken is not None and not self._broken.is_behind_end:
            self._break(self._broken)
        elif self._rated is not None:
            self._flush()
            self._enter(TransferState.WRITING_OUT)
            self._rated.end(self._complete_answer)
        else:
            self._complete_answer()

    def _complete_answer(self) -> None:
        if self._chunked:
            self._out.append(last_chunk(self._trailers))
        connection, self._upstream = self._upstream, None
        self._end()
        self._flush()
        if connection is not None:
            self._client.upstreams.give_back(self._request.origin, connection)
        self.report_end(None)
        self._proxied.finish()

    def upstream_lost(self, reason: BaseException, *, answered: bool) -> None:
        """Handle the loss of the connection: send the request again, or report the error.

        It is sent again if it is idempotent and a pooled connection ended without any response.
        """
        connection, self._upstream = self._upstream, None
        if not answered:
            self._learn(reason)
        error = upstream_error(reason, self._request.origin)
        silent = connection is not None and not connection.heard
        closed = connection is None or connection.was_closed
        if answered and self._rated is not None:
            self._enter(TransferState.WRITING_OUT)
            self._rated.end(partial(self._incomplete, error, closed=closed))
        elif answered:
            self._incomplete(error, closed=closed)
        elif silent and not self._fresh and self._repeatable and not self._is_tied:
            self._stop_timer()
            self._enter(TransferState.CONNECTING)
            self.start(again=True)
        else:
            self._fail(error, closed=closed if error.code == UPSTREAM_CLOSED else None)

    def _incomplete(self, error: UpstreamError, *, closed: bool) -> None:
        self._end()
        self._flush()
        self.report_end(error)
        if error.code == UPSTREAM_CLOSED and not closed:
            self._proxied.reset_soon()
        else:
            self._proxied.cut_off(noticeable=not self._until_close)

    def server_busy(self) -> None:
        """Pause the request's body."""
        self._client.hold_body(hold=True)

    def server_ready(self) -> None:
        """Resume the request's body."""
        self._client.hold_body(hold=False)

    # The reports

    def _report_head(self) -> None:
        """Report the head of a response, once, before its body is complete: it may never end."""
        head = self._head
        if self._head_reported or head is None or self._proxy_client is None:
            return
        self._head_reported = True
        if self._complete:
            self._report_request()
        response = response_of(self._request.url, head, self._pairs)
        self._proxied.report(
            RequestResponse(self._proxied.id, ok=True, response=response, body_pending=True)
        )

    def report_end(self, error: UpstreamError | None) -> None:
        """Report the end of the transfer, once.

        :param error: the reason if the response is missing or incomplete, else ``None``.
        """
        if self._proxy_client is None or self._end_reported:
            return
        self._end_reported = True
        self._report_request()
        head, copy = self._head, self._received
        if head is None:
            self._send_end(UNSET, error)
            return
        full_size = copy.size if copy is not None and copy.truncated else None
        leads_on = self._remember_redirect(head, self._proxy_client)
        # A redirect must be reported before the request that follows it is announced.
        decoders = self._resources.decoders
        plain = decoders.plain(self._pairs, copy, self._limit, soon=leads_on or decoders.busy)
        plain.addCallback(
            lambda found: self._send_end(
                response_of(
                    self._request.url, head, *found, full_size=full_size, trailers=self._trailers
                ),
                error,
            )
        )
        plain.addErrback(lambda failure: self.log.failure("a report failed", failure=failure))

    def _send_end(
        self, response: SerializedResponse | UnsetType, error: UpstreamError | None
    ) -> None:
        self._proxied.report(
            RequestResponse(
                self._proxied.id,
                ok=error is None,
                response=response,
                error=UNSET if error is None else error.serialized(),
            )
        )

    def _report_request(self) -> None:
        copy, self._sent = self._sent, None
        if copy is None:
            return
        cut = copy.truncated or not self._complete
        self._proxied.report(
            RequestBody(
                self._proxied.id,
                bodies.from_bytes(copy.take()),
                truncated=True if cut else UNSET,
                body_size=copy.size if cut else UNSET,
            )
        )

    def _remember_redirect(self, head: ResponseHead, proxy_client: ProxyClient) -> bool:
        """Return whether a response is a redirect, and remember its target."""
        if not head.redirect:
            return False
        url = redirect_target(self._request.url, head.redirect)
        if url is not None:
            proxy_client.redirected(self._proxied.id, url, self._proxied.context_id)
        return True

    # The end

    def _fail(self, error: UpstreamError, *, closed: bool | None = None) -> None:
        self._end()
        self.report_end(error)
        self._proxied.failed_upstream(error, closed=closed)

    def _end(self) -> bool:
        """Stop what goes on; return ``False`` if the transfer was over already."""
        if not self._enter(TransferState.OVER):
            return False
        self._stop_timer()
        if self._rated is not None:
            self._rated.stop()
        if self._consumed:
            self._consumed = False
            self._client.consume(None)
        return True

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        if self._out:
            self._client.write(self._out[0] if len(self._out) == 1 else b"".join(self._out))
            self._out.clear()
