"""Streamed mocks: a handler begins an answer, and the pieces of its body follow.

The coordinator passes the pieces on to the agent, and the acknowledgements on to the worker.
For an agent without the feature it collects the body, and answers with it at the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial

from attrs import define, field
from msgspec import UNSET, structs

from trafficmock import records
from trafficmock.core import error_messages
from trafficmock.core.answers import body_way
from trafficmock.core.effects import EffectList
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.deferred_bodies import body_limits
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import PendingRequest
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.core.state.registered import RegisteredRoute, RegisteredTest
from trafficmock.texts.wording import Wording
from trafficmock.wire import outbound as to_client
from trafficmock.wire.features import STREAM_MOCKS
from trafficmock.wire.http_syntax import BODILESS_STATUSES
from trafficmock.wire.inbound import (
    MAX_STREAM_PIECE_BYTES,
    STREAM_WINDOW_BYTES,
    STREAM_WINDOW_PIECES,
    CloseReason,
    FromWorker,
    RequestCancel,
    RequestResponse,
    StreamAbort,
    StreamAck,
    StreamClosed,
    StreamData,
    StreamEnd,
)
from trafficmock.wire.outbound import ProxyError
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse


@define(eq=False)
class PartsLeft:
    """The parts of a mock that the coordinator has not written yet.

    :param parts: the milliseconds before each part of the body, and its content.
    :ivar due: the part whose time has come.
    :ivar waits_for_room: whether it is written when the application has read.
    """

    pending: PendingRequest
    parts: Iterator[tuple[int, bytes]] = field(repr=False)
    due: bytes | None = field(init=False, default=None, repr=False)
    waits_for_room: bool = False


@define(eq=False, kw_only=True)
class OpenStream:
    """An answer whose body is being written.

    :param subject: the method and URL of the request.
    :param test: the test that owns the request.
    :param route: the route whose handler writes the answer.
    :param response: the head of the answer.
    :param observers: the connections that get the whole answer at its end.
    :param collected: the request, if the body is collected for an agent without the feature.
    :param sends: whether pieces are passed on; not those of a response without a body.
    :ivar left: the pieces of a fixed answer; ``None`` for one that the worker writes.
    :ivar seq: the number of the latest piece.
    :ivar unacknowledged: number and bytes of each piece that the agent has not acknowledged.
    :ivar waiting: the bytes of these pieces.
    :ivar kept: the beginning of the body, for the history and for observers.
    :ivar size: the bytes of all pieces.
    :ivar ended: whether the body is complete or broken off by the test.
    """

    request_id: str
    subject: Wording
    agent: Agent
    worker: Worker
    test: RegisteredTest
    route: RegisteredRoute | None
    response: SerializedResponse
    observers: tuple[str, ...]
    collected: PendingRequest | None = None
    sends: bool = True
    left: PartsLeft | None = None
    seq: int = 0
    unacknowledged: deque[tuple[int, int]] = field(factory=deque)
    waiting: int = 0
    kept: bytearray = field(factory=bytearray)
    size: int = 0
    ended: bool = False

    def has_room(self, size: int) -> bool:
        """Return whether the agent may be sent a piece with this many bytes."""
        is_short = len(self.unacknowledged) < STREAM_WINDOW_PIECES
        return is_short and self.waiting + size <= STREAM_WINDOW_BYTES

    def answer(self) -> SerializedResponse:
        """Return the answer with the part of its body that was kept."""
        content = body.from_bytes(self.kept)
        if len(self.kept) == self.size:
            return structs.replace(self.response, body_base64=content)
        return structs.replace(
            self.response, body_base64=content, truncated=True, body_size=self.size
        )


class BrokenStreamError(Exception):
    """A worker broke a rule of the protocol in a stream; the message is the rule."""


@define
class StreamedAnswers:
    """Passes on the pieces of streamed mocks.

    :ivar open: the streams by the id of their request, until the end of each is acknowledged.
    """

    state: SharedState
    decisions: Decisions
    open: dict[str, OpenStream] = field(init=False, factory=dict)

    def begin(
        self,
        pending: PendingRequest,
        response: SerializedResponse,
        out: EffectList,
    ) -> OpenStream | None:
        """Begin the answer to a request.

        :returns: ``None`` for an answer that the agent cannot give, which fails the owner's test.
        """
        test, chain, features = pending.test, pending.chain, pending.agent.features
        if test is None:
            return None
        former = self.open.get(pending.id)
        if former is not None:
            # An agent that uses an id again reads the former answer no more.
            self._close(former, "application", out)
        bodiless = pending.method == "HEAD" or response.status in BODILESS_STATUSES
        collects = STREAM_MOCKS not in features and not bodiless
        head = structs.replace(response, body_base64=body.NULL)
        if not collects:
            begun = self.decisions.begin_stream(pending, head, out, has_body=not bodiless)
            if begun is None:
                return None
            head = begun
        stream = self.open[pending.id] = OpenStream(
            request_id=pending.id,
            subject=pending.subject,
            agent=pending.agent,
            worker=test.worker,
            test=test,
            route=None if chain is None else chain.route,
            response=head,
            observers=pending.observers,
            collected=pending if collects else None,
            sends=not (bodiless or collects),
        )
        return stream

    # Mocks in parts

    def play(self, pending: PendingRequest, answer: Fulfill, out: EffectList) -> None:
        """Answer a request by the parts of a mock, the first of them at once.

        An agent that does not take parts gets the mock when the last one is due.
        """
        response = answer.response
        bodiless = pending.method == "HEAD" or response.status in BODILESS_STATUSES
        if bodiless or STREAM_MOCKS not in pending.agent.features:
            whole = partial(self.decisions.fulfill, pending, response)
            due = UNSET if bodiless else body_way.duration_ms(answer)
            self.decisions.delay(pending, due, whole, out)
            return
        stream = self.begin(pending, response, out)
        if stream is not None:
            stream.left = PartsLeft(pending, body_way.parts_of(answer))
            self._play(stream, stream.left, out)

    def _play(self, stream: OpenStream, left: PartsLeft, out: EffectList) -> None:
        """Write the pieces that are due, and the end after the last one."""
        while not stream.ended and self.open.get(stream.request_id) is stream:
            if left.due is None:
                following = next(left.parts, None)
                if following is None:
                    self.written(stream.worker, StreamEnd(stream.request_id, stream.seq + 1), out)
                    return
                pause, left.due = following
                if pause:
                    again = partial(self._play, stream, left)
                    self.state.planned.plan(left.pending, pause, again, out)
                    return
            if not stream.has_room(len(left.due)):
                left.waits_for_room = True
                return
            content, left.due = left.due, None
            piece = StreamData(stream.request_id, stream.seq + 1, body.from_bytes(content))
            self.written(stream.worker, piece, out)

    # Messages of workers

    def written(self, worker: Worker, message: FromWorker, out: EffectList) -> None:
        """Handle a piece, the end or the abort of a stream; of a stream that is over, nothing."""
        stream = self.open.get(message.request_id)
        if stream is None or stream.worker is not worker or stream.ended:
            return
        if stream.collected is not None and stream.request_id not in self.state.pending:
            self._close(stream, "application", out)
            return
        try:
            self._count(stream, message)
        except BrokenStreamError as error:
            text = error_messages.broken_stream(stream.subject, str(error), _place(stream))
            self._break_off(stream, "limit", text, out)
            out.send(worker.id, ProxyError("handler_failed", text, stream.test.id))
            return
        match message:
            case StreamData():
                out.record(records.StreamPieceSent(stream.request_id, stream.unacknowledged[-1][1]))
            case StreamEnd():
                self._end(stream, None, out)
            case StreamAbort():
                self._end(stream, message, out)
        if stream.sends:
            out.send(stream.agent.id, message)
        else:
            self._acknowledge(stream, message.seq, out)

    def _count(self, stream: OpenStream, message: FromWorker) -> None:
        """Count a message of a stream, and keep the beginning of the body.

        :raises BrokenStreamError: the message breaks a rule of the protocol.
        """
        if message.seq != stream.seq + 1:
            raise BrokenStreamError(f"piece {message.seq} came after piece {stream.seq}")
        stream.seq = message.seq
        size = 0
        if isinstance(message, StreamData):
            content = body.to_bytes(message.body)
            size = len(content)
            if size > MAX_STREAM_PIECE_BYTES:
                raise BrokenStreamError(
                    f"a piece has {size} bytes, more than {MAX_STREAM_PIECE_BYTES}"
                )
            self._keep(stream, content)
            if not stream.has_room(size):
                raise BrokenStreamError(
                    f"{stream.waiting + size} bytes in {len(stream.unacknowledged) + 1} pieces are "
                    f"not acknowledged, more than {STREAM_WINDOW_BYTES} or {STREAM_WINDOW_PIECES}"
                )
        stream.unacknowledged.append((message.seq, size))
        stream.waiting += size

    def _keep(self, stream: OpenStream, content: bytes) -> None:
        stream.size += len(content)
        limits = body_limits(self.state.settings)
        if stream.collected is None:
            room = limits.history - len(stream.kept)
            stream.kept += content[: max(room, 0)]
            return
        if stream.size > limits.handler:
            raise BrokenStreamError(
                f"its agent does not know streams, and takes answers of {limits.handler} bytes"
            )
        stream.kept += content

    def _end(self, stream: OpenStream, abort: StreamAbort | None, out: EffectList) -> None:
        """End a stream as the test says."""
        stream.ended = True
        pending = stream.collected
        if pending is None:
            text = "" if abort is None else f"the test broke it off ({abort.error_code})"
            self._report(stream, None if abort is None else text, out)
        elif abort is None:
            self.decisions.fulfill(pending, stream.answer(), out)
        else:
            decision = to_client.DecisionAbort(pending.id, abort.error_code)
            self.decisions.abort(pending, decision, out)
        stream.kept = bytearray()

    def _report(
        self, stream: OpenStream, failure: str | None, out: EffectList, *, was_left: bool = False
    ) -> None:
        """Record the whole answer, and send it to the observers.

        :param failure: why the answer is not complete; ``None`` for a complete one.
        :param was_left: whether that is because the application had enough of it.
        """
        answer = stream.answer()
        error = None if failure is None else SerializedError("Error", failure, code="aborted")
        out.record(records.StreamEnded(stream.request_id, answer, failure, was_left))
        if stream.observers:
            reported = RequestResponse(
                stream.request_id, ok=error is None, response=answer, error=error or UNSET
            )
            out.send_all(stream.observers, reported)

    # Messages of agents

    def acknowledged(self, agent: Agent, message: StreamAck, out: EffectList) -> None:
        """Pass on that pieces are with the application."""
        stream = self.open.get(message.request_id)
        if stream is not None and stream.agent is agent:
            self._acknowledge(stream, message.seq, out)

    def _acknowledge(self, stream: OpenStream, seq: int, out: EffectList) -> None:
        while stream.unacknowledged and stream.unacknowledged[0][0] <= seq:
            stream.waiting -= stream.unacknowledged.popleft()[1]
        if stream.left is None:
            out.send(stream.worker.id, StreamAck(stream.request_id, seq))
        elif stream.left.waits_for_room:
            stream.left.waits_for_room = False
            self._play(stream, stream.left, out)
        if stream.ended and not stream.unacknowledged:
            self.open.pop(stream.request_id, None)

    def closed(self, agent: Agent, message: StreamClosed | RequestCancel, out: EffectList) -> None:
        """Handle that the application has closed an answer, or has given the request up.

        It may give the request up while the head of the answer is on its way.
        """
        stream = self.open.get(message.request_id)
        if stream is not None and stream.agent is agent:
            self._close(stream, "application", out)

    # Ends of tests and connections

    def agent_lost(self, agent: Agent, out: EffectList) -> None:
        """End the streams of an agent that has disconnected."""
        for stream in [each for each in self.open.values() if each.agent is agent]:
            self._close(stream, "agent", out)

    def break_off_answers_of(
        self, tests: list[RegisteredTest], out: EffectList, *, worker_lost: bool
    ) -> None:
        """Break off the streams of tests that have ended; the tests fail for it."""
        for stream in [each for each in self.open.values() if each.test in tests]:
            if stream.ended:
                # The agent may never acknowledge the end, and nobody waits for that any more.
                del self.open[stream.request_id]
                continue
            if worker_lost:
                text = error_messages.owner_lost(stream.subject, stream.test)
                self._break_off(stream, "ended", text, out)
                continue
            text = error_messages.stream_open(
                stream.subject, stream.test, _place(stream), is_fixed=stream.left is not None
            )
            self._break_off(stream, "ended", text, out)
            if stream.route is None or not stream.route.ignores_errors:
                out.send(stream.worker.id, ProxyError("disconnected", text, stream.test.id))

    def stop(self, out: EffectList) -> None:
        """Break all streams off, because the service ends."""
        for stream in list(self.open.values()):
            text = error_messages.stopping(stream.subject)
            self._break_off(stream, "ended", text, out)

    def _break_off(
        self, stream: OpenStream, reason: CloseReason, text: str, out: EffectList
    ) -> None:
        """Break an answer off at the application, and tell the worker."""
        pending = stream.collected
        if pending is not None and pending.id in self.state.pending:
            decision = to_client.DecisionAbort(pending.id, "connectionreset", text)
            self.decisions.abort(pending, decision, out)
        elif stream.sends:
            broken = StreamAbort(stream.request_id, stream.seq + 1, "connectionreset")
            out.send(stream.agent.id, broken)
        self._close(stream, reason, out, text)

    def _close(
        self, stream: OpenStream, reason: CloseReason, out: EffectList, text: str = ""
    ) -> None:
        del self.open[stream.request_id]
        if stream.left is not None:
            self.state.planned.cancel(stream.left.pending)
        if not stream.ended and stream.collected is None:
            was_left = reason == "application"
            self._report(stream, text or _WHY[reason], out, was_left=was_left)
        if stream.left is None:
            out.send(stream.worker.id, StreamClosed(stream.request_id, reason, text or UNSET))


_WHY: dict[CloseReason, str] = {
    "application": "the application closed it",
    "agent": "the application disconnected",
}


def _place(stream: OpenStream) -> str | None:
    return None if stream.route is None else stream.route.place
