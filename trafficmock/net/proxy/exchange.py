"""One request that goes through the forward proxy, from its head to the end of its answer."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET
from twisted.internet import error as network

from trafficmock.net.proxy import framing, rewriting
from trafficmock.net.proxy.copies import Copy, request_of, response_of
from trafficmock.net.proxy.forwarding import (
    LAST_CHUNK,
    chunk,
    end_to_end,
    expects_continue,
    request_block,
    response_block,
)
from trafficmock.net.proxy.framing import Framing, Kind
from trafficmock.net.proxy.problems import UpstreamError, answer, explain
from trafficmock.wire import body as bodies
from trafficmock.wire import inbound, outbound
from trafficmock.wire.response import REDIRECTS, Failure

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IDelayedCall
    from twisted.python.failure import Failure as TwistedFailure

    from trafficmock.net.proxy.heads import Pairs, RequestHead, ResponseHead
    from trafficmock.net.proxy.party import Party
    from trafficmock.net.proxy.settings import Shared
    from trafficmock.net.proxy.target import Origin, Target
    from trafficmock.net.proxy.upstream import UpstreamConnection
    from trafficmock.wire.inbound import Message
    from trafficmock.wire.request import Overrides
    from trafficmock.wire.response import Response

EARLY_BYTES = 64 * 1024
"""How much of a body is taken before it is known where it goes."""

_REPEATABLE = frozenset({b"GET", b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"})
"""Methods of requests that may be sent twice (RFC 9110 section 9.2.2)."""

CLIENT_CLOSED = "client closed"


class Side(Protocol):
    """The client's connection as an exchange sees it."""

    secure: bool

    def local(self) -> Any:
        """Give the address of ours that the client came to."""

    def write(self, data: bytes) -> None:
        """Send to the client."""

    def hold_body(self, *, hold: bool) -> None:
        """Stop reading the request's body, or read on."""

    def consume(self, producer: UpstreamConnection | None) -> None:
        """Hold ``producer`` back while the client does not take more; ``None`` at its end."""

    def finished(self, *, close: bool) -> None:
        """Go on with the next request, or close the connection when all is sent."""

    def reset(self) -> None:
        """Cut the connection, so that the client sees an error of the network."""


class Exchange:
    """A request, what was decided about it, and its answer.

    :param side: the client's connection.
    :param party: who asks.
    :param shared: the ways to servers, and the options.
    :param head: of the request.
    :param target: where it is aimed.
    :param body: how its body is delimited.
    """

    def __init__(
        self,
        side: Side,
        party: Party,
        shared: Shared,
        *,
        head: RequestHead,
        target: Target,
        body: Framing,
    ) -> None:
        self.id = str(uuid.uuid4())
        self.side = side
        self.party = party
        self.shared = shared
        self.head = head
        self.target = target
        self.body = body
        self.pairs = end_to_end(head)
        self.method = head.method
        self.keep = framing.keeps_alive(head)
        self.done = False
        self.request_done = body.kind is Kind.NONE
        self._early: list[bytes] = []
        self._early_size = 0
        self._whole = False
        self._copy: Copy | None = None
        self._sent = b""
        self._origin: Origin = target.origin
        self._path = target.path
        self._sent_pairs = self.pairs
        self._out_framing = body
        self._url = target.url
        self._told_body = True
        self._upstream: UpstreamConnection | None = None
        self._opening: Deferred[Any] | None = None
        self._timer: IDelayedCall | None = None
        self._streams = False
        self._fresh = True
        self._reported = True
        self._response: ResponseHead | None = None
        self._response_pairs: Pairs = []
        self._response_copy: Copy | None = None
        self._response_chunked = False
        self._delimited = False
        self._out: list[bytes] = []
        self._consumed = False
        self._head_told = False

    # What the client does

    def announce(self, content: bytes | None) -> None:
        """Tell the coordinator of the request.

        :param content: its body where it is there already, ``None`` where it is on its way.
        """
        self.party.subjects[self.id] = self
        request = request_of(self.target.url, self.method, self.pairs, content or b"")
        if content:
            self._early = [content]
        pending = content is None
        self._told_body = not pending
        prior = self.party.redirect_to(self.target.url)
        self.party.say(
            inbound.RequestStart(
                self.id,
                self.party.client_id,
                request,
                **({"body_pending": True} if pending else {}),
                **({} if prior is None else {"redirected_from_request_id": prior}),
            )
        )

    def request_data(self, data: bytes) -> None:
        """Take a piece of the body."""
        if self._copy is not None:
            self._copy.add(data)
        if self._streams and self._upstream is not None:
            coded = chunk(data) if self._out_framing.kind is Kind.CHUNKED else data
            self._upstream.send(coded, complete=False)
            return
        self._early.append(data)
        self._early_size += len(data)
        if self._whole:
            limit = self.party.limits.handler if self.party.limits else 0
            if limit and self._early_size > limit:
                self._tell_body_is_too_large()
        elif self._early_size > EARLY_BYTES:
            self.side.hold_body(hold=True)

    def request_end(self) -> None:
        """Take the end of the body."""
        self.request_done = True
        if self._streams and self._upstream is not None:
            last = LAST_CHUNK if self._out_framing.kind is Kind.CHUNKED else b""
            self._upstream.send(last, complete=True)
            self._begin_waiting()
        elif self._whole:
            self._tell_whole_body()

    def client_gone(self, reason: str = CLIENT_CLOSED) -> None:
        """Give up: nobody waits for the answer any more."""
        if self.done:
            return
        self._settle()
        if self._response is None or self._reported:
            self.party.say(inbound.RequestCancel(self.id, reason))
        else:
            self._report(UpstreamError(reason, code="aborted", errno="aborted"))

    @property
    def begun(self) -> bool:
        """Whether the client has got some of an answer."""
        return self._response is not None

    # What the coordinator says

    def told(self, message: Message) -> None:
        """Act on a decision."""
        match message:
            case outbound.DecisionPassthrough():
                self._pass_on(None)
            case outbound.DecisionContinue():
                self._pass_on(message.overrides or None)
            case outbound.DecisionFulfill():
                self._fulfill(message.response)
            case outbound.DecisionAbort():
                self._abort(message.error_code, message.message or "")
            case outbound.DecisionError():
                self._refuse(502, message.code, message.message)
            case outbound.NeedBody():
                self._need_body()
            case outbound.DecisionFetch():
                self.shared.fetches.start(self, message)

    def content(self) -> bytes:
        """Give the body as far as it is there."""
        if len(self._early) > 1:
            self._early = [b"".join(self._early)]
        return self._early[0] if self._early else b""

    # A body that a test wants

    def _need_body(self) -> None:
        self._whole = True
        if self.request_done:
            self._tell_whole_body()
            return
        if expects_continue(self.head):
            self.side.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.side.hold_body(hold=False)

    def _tell_whole_body(self) -> None:
        if not self._told_body:
            self._told_body = True
            self.party.say(inbound.RequestBody(self.id, bodies.from_bytes(self.content())))

    def _tell_body_is_too_large(self) -> None:
        self._whole = False
        self._told_body = True
        self.side.hold_body(hold=True)
        size = self.body.length or self._early_size
        self.party.say(
            inbound.RequestBody(self.id, bodies.NULL, truncated=True, body_size=size)
        )

    # Upstream

    def _pass_on(self, overrides: Overrides | None) -> None:
        self._reported = False
        if overrides is not None:
            try:
                sent = rewriting.rewrite(self.method, self.target, self.pairs, overrides)
            except UpstreamError as error:
                self._failed(error)
                return
            self.method, self._origin, self._path = sent.method, sent.origin, sent.path
            self._sent_pairs, self._url = sent.pairs, sent.url
            if sent.content is not None:
                self._early = [sent.content] if sent.content else []
        self._streams = not self.request_done
        if not self._told_body:
            self._copy = Copy(self.party.limits.history if self.party.limits else 0)
            for piece in self._early:
                self._copy.add(piece)
        if self.request_done:
            size = len(self.content())
            self._out_framing = Framing(Kind.LENGTH, size) if size else framing.NONE
        if self.request_done or self.head.minor == 0:
            self._sent_pairs = [pair for pair in self._sent_pairs if pair[0].lower() != b"expect"]
        self._reach(retry=False)

    def _reach(self, *, retry: bool) -> None:
        """Get a connection to the server and send the request over it."""
        repeatable = not self._streams and (self.method in _REPEATABLE)
        pool = self.shared.pool
        connection = None if retry else pool.take(self._origin, repeatable=repeatable)
        self._fresh = connection is None
        if connection is not None:
            self._send(connection)
            return
        self._opening = pool.connect(self._origin)
        self._opening.addCallbacks(self._opened, self._not_opened)

    def _opened(self, connection: UpstreamConnection) -> None:
        self._opening = None
        if self.shared.is_ourselves(connection.transport, self.side.local()):
            connection.cancel()
            text = f"{self._origin} is this very proxy."
            self._failed(UpstreamError(text, status=508, code="loop_detected", errno="ELOOP"))
        else:
            self._send(connection)

    def _not_opened(self, failure: TwistedFailure) -> None:
        self._opening = None
        if not self.done:
            self._failed(explain(failure.value, self._origin))

    def _send(self, connection: UpstreamConnection) -> None:
        self._upstream = connection
        content = self.content()
        coded = chunk(content) if content and self._out_framing.kind is Kind.CHUNKED else content
        if self.request_done and self._streams and self._out_framing.kind is Kind.CHUNKED:
            coded += LAST_CHUNK
        block = self._block()
        self._early = [] if self._streams else self._early
        connection.begin(self, self.method, block + coded, complete=self.request_done)
        if self.request_done:
            self._begin_waiting()
        else:
            self.side.hold_body(hold=False)

    def _block(self) -> bytes:
        host = self._origin.authority.encode("ascii")
        path, pairs = self._path, self._sent_pairs
        proxy = self.shared.roads.asks_proxy(self._origin)
        if proxy is not None:
            path = b"http://%s%s" % (host, b"" if path == b"*" else path)
            if proxy.credentials is not None:
                pairs = [*pairs, (b"Proxy-Authorization", proxy.credentials)]
        return request_block(self.method, path, host, pairs, self._out_framing)

    def _begin_waiting(self) -> None:
        seconds = self.shared.settings.response_seconds
        if seconds and self._response is None and not self.done:
            self._timer = self.shared.reactor.callLater(seconds, self._too_slow)

    def _too_slow(self) -> None:
        self._timer = None
        text = f"{self._origin}: it did not answer in time (--upstream-timeout-ms)."
        self._drop_upstream()
        self._failed(UpstreamError(text, status=504, code="upstream_timeout", errno="ETIMEDOUT"))

    # What the server does

    def interim(self, head: ResponseHead) -> None:
        """Pass a 1xx answer on, to a client that knows them."""
        if self.head.minor > 0:
            pairs = end_to_end(head)
            self.side.write(response_block(head.status, head.reason, pairs, chunked=False, close=False, via=b""))

    def response_head(self, head: ResponseHead, body: Framing) -> None:
        """Begin the answer to the client."""
        self._stop_timer()
        self._response = head
        pairs = self._response_pairs = end_to_end(head)
        unknown = body.kind in {Kind.CHUNKED, Kind.UNTIL_CLOSE}
        self._response_chunked = unknown and self.head.minor > 0
        self._delimited = self._response_chunked or not unknown
        if unknown and self.head.minor == 0:
            self.keep = False
        if body.kind is not Kind.NONE:
            self._response_copy = Copy(self.party.limits.history if self.party.limits else 0)
        if not self.request_done:
            self.keep = False
        close = not self.keep
        self._out.append(
            response_block(
                head.status, head.reason, pairs, chunked=self._response_chunked, close=close
            )
        )

    def response_data(self, data: bytes) -> None:
        """Pass a piece of the answer's body on."""
        if self._response_copy is not None:
            self._response_copy.add(data)
        self._out.append(chunk(data) if self._response_chunked else data)

    def response_pause(self) -> None:
        """Send what has come; the client's pace is the server's from now on."""
        if not self._consumed and self._upstream is not None and self._response is not None:
            self._consumed = True
            self.side.consume(self._upstream)
        self._flush()
        self._tell_head()

    def response_end(self) -> None:
        """Send the end, report, and let both connections go on."""
        if self._response_chunked:
            self._out.append(LAST_CHUNK)
        if self._consumed:
            self.side.consume(None)
        self._flush()
        connection, self._upstream = self._upstream, None
        if connection is not None:
            self.shared.pool.give_back(self._origin, connection)
        self._report(None)
        self._finish()

    def upstream_lost(self, reason: BaseException, *, answered: bool) -> None:
        """Try again where that cannot do harm, or tell everybody."""
        connection, self._upstream = self._upstream, None
        error = explain(reason, self._origin)
        silent = connection is not None and not connection.heard
        if answered:
            self._broke_off(error)
        elif silent and not self._fresh and not self._streams and self.method in _REPEATABLE:
            self._stop_timer()
            self._reach(retry=True)
        else:
            self._failed(error)

    def server_busy(self) -> None:
        """Hold the request's body back."""
        self.side.hold_body(hold=True)

    def server_ready(self) -> None:
        """Let the request's body go on."""
        self.side.hold_body(hold=False)

    # Ends

    def _broke_off(self, error: UpstreamError) -> None:
        """End an answer that cannot be completed so that the client notices."""
        if self._consumed:
            self.side.consume(None)
        self._flush()
        self._report(error)
        if self._delimited:
            # What has come is the client's, and its framing shows that there was to be more.
            self.keep = False
            self._finish()
        else:
            self._settle()
            self.side.reset()

    def _failed(self, error: UpstreamError) -> None:
        """Answer in the place of a server that failed."""
        self._stop_timer()
        self._report(error)
        self._refuse(error.status, error.code, error.text)

    def _refuse(self, status: int, code: str, text: str) -> None:
        keep = self.keep = self.keep and self.request_done
        head_only = self.head.method == b"HEAD"
        self.side.write(answer(status, code, text, keep=keep, head_only=head_only))
        self._finish()

    def _fulfill(self, response: Response) -> None:
        self.keep = self.keep and self.request_done
        self.side.write(rewriting.mock_bytes(response, self.head.method, close=not self.keep))
        self._finish()

    def _abort(self, code: str, text: str) -> None:
        if code == "timedout":
            seconds = self.shared.settings.abort_hold_seconds
            self._timer = self.shared.reactor.callLater(seconds, self._reset)
        elif code in {"aborted", "connectionreset"} or self.side.secure:
            self._reset()
        else:
            reason = f": {text}" if text and text != code else ""
            self._refuse(502, code, f"A test failed this request with the code {code}{reason}.")

    def _reset(self) -> None:
        self._timer = None
        self._settle()
        self.side.reset()

    def _finish(self) -> None:
        self._settle()
        self.side.finished(close=not self.keep)

    def _settle(self) -> None:
        self.done = True
        self._stop_timer()
        self._drop_upstream()
        self.party.subjects.pop(self.id, None)

    def _drop_upstream(self) -> None:
        connection, self._upstream = self._upstream, None
        if connection is not None:
            if self._consumed:
                self.side.consume(None)
            connection.cancel()
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.addErrback(lambda _: None)
            opening.cancel()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        if self._out:
            self.side.write(self._out[0] if len(self._out) == 1 else b"".join(self._out))
            self._out.clear()

    # Reports

    def _tell_request_body(self) -> None:
        """Hand over the copy of a body that streamed past."""
        if self._told_body:
            return
        self._told_body = True
        copy = self._copy or Copy(0)
        content = bodies.from_bytes(copy.content())
        cut = copy.truncated or not self.request_done
        self.party.say(
            inbound.RequestBody(
                self.id, content, **({"truncated": True, "body_size": copy.size} if cut else {})
            )
        )

    def _tell_head(self) -> None:
        """Show an answer that goes on at once: it may never end."""
        if self._head_told or self._reported or self._response is None:
            return
        self._head_told = True
        if self.request_done:
            self._tell_request_body()
        response = response_of(
            self._url, self._response.status, self._response.reason, self._response_pairs, None
        )
        self.party.say(
            inbound.RequestResponse(self.id, ok=True, response=response, body_pending=True)
        )

    def _report(self, error: UpstreamError | None) -> None:
        if self._reported:
            return
        self._reported = True
        self._tell_request_body()
        head, fields = self._response, {}
        if head is not None:
            fields["response"] = response_of(
                self._url, head.status, head.reason, self._response_pairs, self._response_copy
            )
            self._remember_redirect(head)
        if error is not None:
            fields["error"] = Failure("Error", error.text, code=error.errno)
        self.party.say(inbound.RequestResponse(self.id, ok=error is None, **fields))

    def _remember_redirect(self, head: ResponseHead) -> None:
        location = head.fields.get(b"location")
        if head.status in REDIRECTS and location:
            url = rewriting.resolve(self._url, location)
            if url is not None:
                self.party.redirected(self.id, url)
