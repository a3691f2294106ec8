"""One request through the forward proxy, from its announcement to the end of its response."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType, structs
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall
from twisted.logger import Logger

from trafficmock.proxy.http1 import framing
from trafficmock.proxy.http1.attached_clients import (
    ORIGIN,
    failure_lines,
    lacks_origin,
    sent_from,
    understands_failures,
)
from trafficmock.proxy.http1.context_headers import (
    carried_context,
    context_id,
    without_context,
)
from trafficmock.proxy.http1.forwarded_headers import end_to_end, expects_continue
from trafficmock.proxy.http1.framing import BodyKind, Framing
from trafficmock.proxy.http1.heads import RequestHead
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.proxy_settings import ProxyResources
from trafficmock.proxy.request_target import Target
from trafficmock.proxy.transfer import faulty_mock, request_rewriting
from trafficmock.proxy.transfer.body_capture import request_of
from trafficmock.proxy.transfer.request_rewriting import Rewritten
from trafficmock.proxy.transfer.request_states import BodyState, ProxiedRequestState
from trafficmock.proxy.transfer.route_fetch import RouteFetch
from trafficmock.proxy.transfer.streamed_mock import StreamedMock
from trafficmock.proxy.transfer.upstream_transfer import UpstreamTransfer
from trafficmock.proxy.upstream.tied_upstream import RESET_SECONDS
from trafficmock.proxy.upstream_errors import UpstreamError, decision_status, error_response
from trafficmock.wire import inbound, outbound
from trafficmock.wire.inbound import Message, StreamAbort, StreamClosed, StreamData, StreamEnd
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.abort_codes import RESETS
from trafficmock.wire.payloads.answer import BodyWay
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedResponse

if TYPE_CHECKING:
    from trafficmock.proxy.client_transport import ClientTransport

CLIENT_CLOSED = "client closed"

EARLY_BYTES = 64 * 1024
"""Bytes of a body that are read before the request is decided; then reading pauses."""

_STOPPING = "The proxy stops; the server had not answered yet."

_UNCHANGED = SerializedOverrides()


class ProxiedRequest:
    """A request: announces it, carries out the coordinator's decision, and answers the client.

    Until the decision it buffers about :data:`EARLY_BYTES` of the body, or all of it for a test.

    :param client: the client's connection.
    ``was_continued`` says whether the proxy has sent a 100, for a body that a test needs.
    ``most_bytes`` are the bytes of the largest body for a test, 0 for no limit.

    :param proxy_client: the client's agent, which talks with the coordinator; ``None`` in a browser
        proxy, where every request passes through.
    :param resources: the connections to servers, and the options.
    :param head: the head of the request.
    :param target: its server and path.
    :param body: how its body is delimited.
    """

    log = Logger()

    def __init__(
        self,
        client: ClientTransport,
        proxy_client: ProxyClient | None,
        resources: ProxyResources,
        *,
        head: RequestHead,
        target: Target,
        body: Framing,
    ) -> None:
        self.id = str(uuid.uuid4())
        self.client = client
        self.proxy_client = proxy_client
        self.most_bytes = 0 if proxy_client is None else proxy_client.limits.handler
        self.head = head
        self.target = target
        self.body = body
        self.pairs = end_to_end(head)
        self.context_id = context_id(head)
        self.state = ProxiedRequestState.UNDECIDED
        self.body_state = BodyState.REPORTED if body.kind is BodyKind.NONE else BodyState.ARRIVING
        self.resources = resources
        self.keep = framing.keeps_alive(head) and not self._is_unasked()
        self._pieces: list[bytes] = []
        self._size = 0
        self.was_continued = False
        self._transfer: UpstreamTransfer | None = None
        self._stream: StreamedMock | None = None
        self._fetches: set[Deferred[None]] = set()
        self._timer: IDelayedCall | None = None

    def _is_unasked(self) -> bool:
        """Return whether the client was not asked yet where such a request comes from.

        It is asked when it opens a tunnel: it has to open another one for its next request.
        """
        proxy_client = self.proxy_client
        return proxy_client is not None and proxy_client.wants_origins and lacks_origin(self.head)

    def __repr__(self) -> str:
        """Return the id and the states, for log lines: a URL may have secrets."""
        return f"<request {self.id} {self.state.value}; its body {self.body_state.value}>"

    def _enter(self, state: ProxiedRequestState) -> bool:
        """Change the state, and return whether the table allows it."""
        allowed = state in self.state.following
        if allowed:
            self.state = state
        return allowed

    def _enter_body(self, state: BodyState) -> bool:
        """Change the state of the body, and return whether the table allows it."""
        allowed = state in self.body_state.following
        if allowed:
            self.body_state = state
        return allowed

    @property
    def begun(self) -> bool:
        """Whether a part of the response was sent to the client, or none may be sent any more."""
        if self.state is ProxiedRequestState.FORWARDED:
            return self._transfer is not None and self._transfer.answered
        return self.state is not ProxiedRequestState.UNDECIDED

    def content(self) -> bytes:
        """Return the part of the body that has arrived."""
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0] if self._pieces else b""

    def report(self, message: Message) -> None:
        """Send a message to the coordinator, unless the request is one of a browser proxy."""
        if self.proxy_client is not None:
            self.proxy_client.send(message)

    # Calls of the client's connection

    def announce(self, content: bytes | None) -> None:
        """Announce the request to the coordinator; in a browser proxy, pass it on.

        :param content: its whole body; ``None`` if it has yet to arrive.
        """
        if content is not None:
            self.body_state = BodyState.REPORTED
        if content:
            self._pieces = [content]
        proxy_client = self.proxy_client
        if proxy_client is None:
            self._pass_on(_UNCHANGED)
            return
        proxy_client.receivers[self.id] = self
        sender = self.head.fields.get(ORIGIN)
        prior = proxy_client.redirect_to(self.target.url, self.context_id)
        pairs = (
            without_context(self.pairs)
            if self.context_id is None
            else self.resources.concealed(self.pairs)
        )
        proxy_client.send(
            inbound.RequestStart(
                self.id,
                proxy_client.client_id,
                request_of(self.target.url, self.head.method, pairs, content or b""),
                body_pending=UNSET if self.body_state.is_complete else True,
                redirected_from_request_id=UNSET if prior is None else prior,
                context=UNSET if self.context_id is None else self.context_id,
                origin=UNSET if self.context_id or sender is None else sent_from(sender),
            )
        )

    def request_data(self, data: bytes) -> None:
        if self._transfer is not None:
            self._transfer.data(data)
            return
        self._pieces.append(data)
        self._size += len(data)
        if self.body_state is BodyState.WANTED:
            if self.most_bytes and self._size > self.most_bytes:
                self._report_too_large()
        elif self._size > EARLY_BYTES:
            self.client.hold_body(hold=True)

    def request_end(self) -> None:
        is_wanted = self.body_state is BodyState.WANTED
        is_oversized = self.body_state is BodyState.OVERSIZED
        self._enter_body(BodyState.REPORTED if is_oversized else BodyState.ARRIVED)
        if self._transfer is not None:
            self._transfer.end()
        elif is_wanted:
            self._report_body()

    def client_gone(self, reason: str = CLIENT_CLOSED) -> None:
        """Cancel the request and report why.

        :param reason: by default that the client disconnected.
        """
        before, begun = self.state, self.begun
        if not self._settle():
            return
        if before is ProxiedRequestState.STREAMED:
            self.report(StreamClosed(self.id))
        elif begun and self._transfer is not None:
            self._transfer.report_end(UpstreamError(reason, code="aborted", errno="aborted"))
        else:
            self.report(inbound.RequestCancel(self.id, reason))

    # Messages of the coordinator

    def on_message(self, message: Message) -> None:
        """Carry out a message; one that the state does not take is ignored, and logged."""
        if isinstance(message, self.state.messages):
            self._carry_out(message)
        else:
            name = type(message).__name__
            self.log.warn("{name} was ignored: {request!r}", name=name, request=self)

    def _carry_out(self, message: Message) -> None:
        match message:
            case outbound.DecisionPassthrough():
                self._pass_on(_UNCHANGED)
            case outbound.DecisionContinue():
                self._pass_on(message.overrides or _UNCHANGED, message.way)
            case outbound.DecisionFulfill(stream=True):
                self._begin_stream(message.response)
            case outbound.DecisionFulfill():
                self._fulfill(message.response, message.way)
            case outbound.DecisionAbort():
                self._abort(message.error_code, message.message or "")
            case outbound.DecisionError():
                text, status = message.message + self._progress(), decision_status(message.code)
                self._refuse(UpstreamError(text, status=status, code=message.code))
            case outbound.DecisionFetch():
                self._fetch(message)
            case outbound.NeedBody():
                self._need_body()
            case StreamData() | StreamEnd() | StreamAbort() if self._stream is not None:
                self._stream.on_message(message)

    def _fetch(self, order: outbound.DecisionFetch) -> None:
        """Begin a fetch; its result or error is sent to the coordinator."""
        fetching = Deferred.fromCoroutine(self._fetched(order))
        self._fetches.add(fetching)
        fetching.addErrback(lambda failure: self.log.failure("a fetch failed", failure=failure))
        fetching.addBoth(lambda _: self._fetches.discard(fetching))

    async def _fetched(self, order: outbound.DecisionFetch) -> None:
        name = order.request_id, order.fetch_id
        try:
            request = self.rewritten(order.overrides or _UNCHANGED)
            if request.content is None:
                request = structs.replace(request, content=self.content())
            fetch = RouteFetch(self.resources, self.client.local(), self.most_bytes)
            response = await fetch.response(request, order)
            result = inbound.FetchResult(*name, ok=True, response=response)
        except UpstreamError as error:
            result = inbound.FetchResult(*name, ok=False, error=error.serialized())
        except CancelledError:
            return
        self.report(result)

    def _need_body(self) -> None:
        """Send the whole body to the coordinator, now or once it has arrived."""
        if self.body_state is BodyState.ARRIVED:
            self._report_body()
        if not self._enter_body(BodyState.WANTED):
            return
        self.client.hold_body(hold=False)
        if expects_continue(self.head):
            self.was_continued = True
            self.client.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _report_body(self) -> None:
        """Send the whole body to the coordinator, once."""
        if self._enter_body(BodyState.REPORTED):
            content = bodies.from_bytes(self.content())
            self.report(inbound.RequestBody(self.id, content))

    def _report_too_large(self) -> None:
        """Report a body above the limit of tests by its size alone, and read no more of it."""
        self._enter_body(BodyState.OVERSIZED)
        self.client.hold_body(hold=True)
        self.report(
            inbound.RequestBody(
                self.id,
                bodies.NULL,
                truncated=True,
                body_size=self.body.length or self._size,
            )
        )

    def _progress(self) -> str:
        """Return a sentence for an error: how much arrived of a body that a test waits for."""
        if self.body_state is not BodyState.WANTED:
            return ""
        return f" {self._size} bytes of its body came."

    # Decisions

    def rewritten(self, overrides: SerializedOverrides) -> Rewritten:
        """Apply the test's overrides to the request.

        :raises UpstreamError: if the overrides cannot be sent over HTTP.
        """
        if overrides is _UNCHANGED:
            return request_rewriting.rewrite(self.head.method, self.target, self.pairs, overrides)
        request = request_rewriting.rewrite(
            self.head.method, self.target, self.pairs, overrides, carried_context(self.head)
        )
        if self.context_id is None:
            return request
        return structs.replace(
            request, pairs=self.resources.revealed(request.pairs, self.context_id)
        )

    def _pass_on(self, overrides: SerializedOverrides, way: BodyWay | UnsetType = UNSET) -> None:
        self._enter(ProxiedRequestState.FORWARDED)
        unreported = None if self.body_state.is_known else self.content()
        try:
            request = self.rewritten(overrides)
        except UpstreamError as error:
            unsent = self.rewritten(_UNCHANGED)
            self._transfer = UpstreamTransfer(self, unsent, unreported)
            self._transfer.report_end(error)
            self.failed_upstream(error)
            return
        if self.was_continued or self.head.minor == 0:
            request = request_rewriting.without_field(request, b"expect")
        self._transfer = UpstreamTransfer(self, request, unreported, way=way)
        self._pieces = []
        self._transfer.start()

    def _fulfill(self, response: SerializedResponse, way: BodyWay | UnsetType) -> None:
        self.keep = self.keep and self.body_state.is_complete and way is UNSET
        try:
            if way is not UNSET:
                if before := faulty_mock.bytes_before(way, response, self.head):
                    self.client.write(before)
                self.break_off(way)
                return
            data = request_rewriting.mock_bytes(response, self.head, close=not self.keep)
        except UpstreamError as error:
            self._refuse(error)
            return
        self.client.write(data)
        self.finish()

    def break_off(self, way: BodyWay) -> None:
        """Let the fault of an answer follow the part that was written."""
        if way.then == "malformed_chunk":
            self.client.write(faulty_mock.NO_CHUNK)
        if way.then == "connection_reset":
            self.reset_soon()
        elif way.then == "stall":
            self._enter(ProxiedRequestState.BROKEN_OFF)
        else:
            self.cut_off(noticeable=True)

    def reset_soon(self) -> None:
        """Reset the connection once the client can have read what was written."""
        self._reset_after(RESET_SECONDS)

    def _reset_after(self, seconds: float) -> None:
        if self._enter(ProxiedRequestState.BROKEN_OFF):
            self._timer = self.resources.reactor.callLater(seconds, self._hold_over)

    def _begin_stream(self, head: SerializedResponse) -> None:
        stream = StreamedMock(self)
        try:
            stream.begin(head)
        except UpstreamError as error:
            self.report(StreamClosed(self.id))
            self._refuse(error)
            return
        self._stream = stream
        self._enter(ProxiedRequestState.STREAMED)

    def _abort(self, code: str, text: str) -> None:
        if understands_failures(self.head):
            self._refuse(UpstreamError(text, code=code))
        elif code == "timedout":
            self._reset_after(self.resources.settings.abort_hold_seconds)
        elif code in RESETS or self.client.secure:
            self.cut_off()
        else:
            reason = f": {text}" if text and text != code else ""
            text = f"A test failed this request with the code {code}{reason}."
            self._refuse(UpstreamError(text, code=code))

    def _hold_over(self) -> None:
        self._timer = None
        self.cut_off()

    def crashed(self) -> None:
        """Cancel the request and reset the connection after an internal error."""
        if self.state is not ProxiedRequestState.SETTLED:
            self.client_gone("internal error")
            self.client.reset()

    def stopped(self) -> None:
        """Answer 502 because the service stops, unless the response has begun."""
        if self.begun:
            return
        error = UpstreamError(_STOPPING, code="disconnected")
        if self._transfer is not None:
            self._transfer.report_end(error)
        self.failed_upstream(error)

    # The end

    def failed_upstream(self, error: UpstreamError, *, closed: bool | None = None) -> None:
        """Answer with the error of a server that failed; for a browser, end the connection.

        For an attached process a lost connection to the server is one to the client, too.

        :param closed: whether the server closed its connection by a FIN, ``False`` for a reset;
            ``None`` if it failed otherwise.
        """
        is_plain = not self.resources.explains_failures
        if closed is not None and (is_plain or understands_failures(self.head)):
            self.cut_off(noticeable=closed)
        elif is_plain:
            self.cut_off()
        else:
            self._refuse(error)

    def cut_off(self, *, noticeable: bool = False) -> None:
        """End the connection within a response.

        :param noticeable: whether the client sees by the framing that the response is incomplete:
            then the connection is closed, else it is reset.
        """
        if not self._settle():
            return
        if noticeable:
            self.client.finished(close=True)
        else:
            self.client.reset()

    def _refuse(self, error: UpstreamError) -> None:
        """Answer with an error response of the proxy."""
        if self.state is ProxiedRequestState.SETTLED:
            return
        self.keep = self.keep and self.body_state.is_complete
        answer = error_response(
            error.status,
            error.code,
            error.text,
            headers=failure_lines(self.head, error.errno or error.code, error.text),
            keep=self.keep,
            head_only=self.head.method == b"HEAD",
        )
        self.client.write(answer)
        self.finish()

    def finish(self) -> None:
        """Go on to the next request of the connection: the response is complete."""
        if self._settle():
            self.client.finished(close=not self.keep)

    def _settle(self) -> bool:
        """End all that goes on for the request; return ``False`` if it was over already."""
        if not self._enter(ProxiedRequestState.SETTLED):
            return False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transfer is not None:
            self._transfer.cancel()
        for fetching in list(self._fetches):
            fetching.cancel()
        if self.proxy_client is not None:
            self.proxy_client.receivers.pop(self.id, None)
        return True
