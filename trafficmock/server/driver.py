"""Passes events to the core and performs the effects that it returns; no other module does."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from attrs import define, field
from msgspec import structs
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger, LogLevel

from trafficmock.core.coordinator import Coordinator
from trafficmock.core.effects import (
    AbortConnection,
    AnswerQuery,
    AnswerReport,
    CloseBrowserProxy,
    CloseConnection,
    Dated,
    Diagnose,
    Effects,
    MakeReport,
    Moment,
    Note,
    OpenBrowserProxy,
    Overdue,
    Redact,
    Send,
    Wake,
    WriteRecording,
)
from trafficmock.core.state.peers import Worker
from trafficmock.history.store import History
from trafficmock.http.backpressure import Backpressure, FlowControlled
from trafficmock.http.log_safety import LogRateLimit, one_line
from trafficmock.proxy.browser_proxy.browser_proxies import BrowserProxies, BrowserProxyError
from trafficmock.records import Record, RequestFailed, SocketFailed, TestEnded
from trafficmock.server.event_log import EventLog
from trafficmock.server.shown_urls import ShownUrls
from trafficmock.server.strict_tunnels import CONCERNING, StrictTunnels
from trafficmock.server.websocket.data_frames import text_frame
from trafficmock.server.websocket.oversized_frames import OversizedMessage
from trafficmock.server.websocket.upgrade import Link
from trafficmock.server.worker_queries import WorkerQueries
from trafficmock.server.written_texts import WrittenTexts
from trafficmock.wire.codec import InvalidMessageError, MessageEncoder, decode
from trafficmock.wire.features import SHOWN_URLS
from trafficmock.wire.inbound import (
    Hello,
    Message,
    MessageFromPage,
    MessageFromServer,
    RequestResponse,
    SendToPage,
    SendToServer,
    SocketFrame,
)
from trafficmock.wire.invalid_message import too_long
from trafficmock.wire.limits import MAX_MESSAGE_BYTES
from trafficmock.wire.outbound import HelloOk, RequestObserved, RequestReplied, UntaggedOrigin
from trafficmock.wire.shrink import shrink, too_large

if TYPE_CHECKING:
    from trafficmock.server.local_client import LocalClient

_SHORTEST_WAIT = 0.001
"""Seconds: the least delay of a wake-up, because rounding may put a deadline just into the past."""

_LEVELS = {level.name: level for level in LogLevel.iterconstants()}

_DEFERRABLE = frozenset({RequestObserved, RequestReplied, RequestResponse})
"""Messages about all traffic, for workers that observe it: they may be sent later than others."""

_SOCKET_FRAMES = frozenset({MessageFromPage, MessageFromServer, SendToPage, SendToServer})
"""Messages with a WebSocket frame. ``isinstance`` with a class of messages costs much more."""

_NOTED = _SOCKET_FRAMES | {HelloOk}
"""Messages that the driver acts upon: ``hello:ok``, and WebSocket frames, for backpressure."""


@define(eq=False, kw_only=True)
class Driver:
    """Passes events of connections to the core, and performs the effects that it returns.

    It is the link handler of ``/ws``. A message to several links is encoded once; clients in this
    process get messages as objects, while the effect is performed.

    :param clock: for wake-ups.
    :param monotonic: returns monotonic seconds.
    :param epoch_ns: returns nanoseconds since 1970.
    :param event_log: logs connections and decisions.
    :param prefix: the beginning of the connection ids of this process.
    :param browser_proxies: the forward proxies for tests' browsers; ``None`` for none.
    :param writers: functions for records, in place of those of the history.
    :param dated_writers: the same, for records of the past.
    :param apart: runs a function that may take long, for example in a thread.
    """

    log = Logger()

    coordinator: Coordinator
    history: History
    clock: IReactorTime
    monotonic: Callable[[], float]
    epoch_ns: Callable[[], int]
    prefix: str
    event_log: EventLog = field(factory=EventLog)
    browser_proxies: BrowserProxies | None = None
    writers: dict[type, Callable[[Any, int], None]] = field(factory=dict)
    dated_writers: dict[type, Callable[[Any, int], None]] = field(factory=dict)
    apart: Callable[..., Deferred[Any]] = maybeDeferred
    _links: dict[str, Link] = field(factory=dict)
    _clients: dict[str, LocalClient] = field(factory=dict)
    _waiting: deque[tuple[LocalClient, Message]] = field(factory=deque)
    _depth: int = 0
    _handling: bool = False
    _introduced: set[str] = field(factory=set)
    _backpressure: Backpressure = field(init=False)
    _quota: LogRateLimit = field(factory=LogRateLimit)
    _numbers: itertools.count[int] = field(factory=lambda: itertools.count(1))
    _timer: IDelayedCall | None = None
    _performers: dict[type, Callable[[Any, Moment], None]] = field(init=False)
    _recorders: dict[type, Callable[[Any, int], None]] = field(init=False)
    queries: WorkerQueries = field(init=False)
    shown_urls: ShownUrls = field(init=False)
    tunnels: StrictTunnels = field(init=False)
    _texts: WrittenTexts = field(init=False)
    _encode: Callable[[Message], bytes] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._backpressure = Backpressure(self.clock)
        self.shown_urls = ShownUrls(self.event_log.redactor)
        self.queries = WorkerQueries(
            self.history,
            self.clock,
            self.monotonic,
            is_open=self._links.__contains__,
            service=self.prefix,
            shown_url=self.shown_urls.of,
            redactor=self.event_log.redactor,
            send=lambda to, answer: self._send(Send((to,), answer), self._now()),
            apart=self.apart,
        )
        self._texts = WrittenTexts(self.event_log.redactor)
        self._encode = MessageEncoder(self.event_log.redactor.written).encode
        self.tunnels = StrictTunnels(self.coordinator, self._now, self._perform)
        # The history does not keep the ends of tests.
        self.writers = {TestEnded: _ignore} | self.history.writers | self.writers
        self.dated_writers = self._texts.before(self.writers | self.dated_writers)
        self.writers = self._texts.before(self.writers)
        self._recorders = dict(self.writers)
        for logged in (RequestFailed, SocketFailed):
            del self._recorders[logged]
        self._performers = dict.fromkeys(self.writers, self._log_and_record) | {
            Send: self._send,
            CloseConnection: self._close,
            AbortConnection: self._abort,
            Wake: self._wake,
            Note: self._note,
            AnswerQuery: lambda effect, _: self.queries.answer(effect),
            AnswerReport: lambda effect, _: self.queries.answer(effect),
            MakeReport: lambda effect, _: self.queries.answer(effect),
            Redact: lambda effect, _: self.queries.answer(effect),
            WriteRecording: lambda effect, _: self.queries.answer(effect),
            Diagnose: lambda effect, _: self.queries.answer(effect),
            Overdue: lambda effect, _: self.queries.answer(effect),
            OpenBrowserProxy: self._open_browser_proxy,
            CloseBrowserProxy: self._close_browser_proxy,
            Dated: lambda dated, _: self._log_and_record_dated(dated),
        }

    # Events of links

    def link_opened(self, link: Link) -> None:
        """Report a new connection to the core."""
        link.id = f"{self.prefix}-{next(self._numbers)}"
        self._links[link.id] = link
        now = self._now()
        self._perform(self.coordinator.connect(link.id, now), now)

    def link_received(self, link: Link, payload: bytes) -> None:
        """Pass a message to the core, and perform the effects."""
        now = self._now()
        try:
            message = decode(payload)
        except InvalidMessageError as error:
            self._perform(self.coordinator.handle_invalid(link.id, error, now), now)
            return
        effects = self.coordinator.handle(link.id, message, now)
        if type(message) in CONCERNING:
            # Before the answer, behind which the test calls its application.
            self.tunnels.judge_anew()
        self._perform(effects, now)
        if type(message) in _SOCKET_FRAMES:
            self._backpressure.pause_sender(link)

    def link_overlong(self, link: Link, message: OversizedMessage) -> None:
        """Report a message above the limit to the core, which answers it with an error."""
        now = self._now()
        error = too_long(
            message.head, message.limit, unauthenticated=link.id not in self._introduced
        )
        self._perform(self.coordinator.handle_invalid(link.id, error, now), now)

    def link_closed(self, link: Link) -> None:
        """Report the end of a connection to the core."""
        del self._links[link.id]
        self.shown_urls.remove(link.id)
        if link.id in self._introduced:
            self._introduced.discard(link.id)
            self.event_log.closed(link.id)
            self.history.tally.left(link.id)
        self._backpressure.gone(link)
        self.queries.forget(link.id)
        now = self._now()
        clean = link.closed_cleanly
        self._perform(self.coordinator.disconnect(link.id, now, clean=clean), now)

    def link_backlogged(self, link: Link) -> None:
        """Pause the senders to a connection, because its peer reads more slowly than they send."""
        self._backpressure.backlogged(link)
        self.queries.pause(link.id)

    def link_drained(self, link: Link) -> None:
        """Resume the senders that waited for a connection."""
        self._backpressure.drained(link)
        self.queries.resume(link.id)

    # Messages of clients in this process

    def client_opened(self, client: LocalClient, hello: Hello) -> None:
        """Report a new client of this process to the core, and set its id."""
        client.id = f"{self.prefix}-{next(self._numbers)}"
        self._clients[client.id] = client
        now = self._now()
        self._perform(self.coordinator.connect(client.id, now, kind=client.kind), now)
        self.client_sent(client, hello)

    def client_sent(self, client: LocalClient, message: Message) -> None:
        """Pass a client's message to the core, after the effects that are being performed.

        A client may answer a message at once, and its answer must not be handled before the
        other effects of the same list are performed.
        """
        if self._depth or self._handling:
            self._waiting.append((client, message))
        else:
            self._handle(client, message)

    def client_closed(self, client: LocalClient) -> None:
        """Report the end of a client to the core."""
        del self._clients[client.id]
        now = self._now()
        self._perform(self.coordinator.disconnect(client.id, now), now)

    def is_reserved(self, context_id: str) -> bool:
        """Return whether a context belongs to a running test, or to one that ended just now."""
        return self.coordinator.state.contexts.resolve(context_id, self.monotonic()) is not None

    def client_recorded(self, record: Record) -> None:
        """Write a record into the history that needs no decision of the core."""
        self.writers[type(record)](record, self._now().epoch_ms)

    def socket_backlogged(self, socket: FlowControlled) -> None:
        """Pause the senders to a client's WebSocket, because its peer reads too slowly."""
        self._backpressure.backlogged(socket)

    def socket_drained(self, socket: FlowControlled) -> None:
        """Resume the senders that waited for a client's WebSocket."""
        self._backpressure.drained(socket)

    def socket_gone(self, socket: FlowControlled) -> None:
        self._backpressure.gone(socket)

    def _handle(self, client: LocalClient, message: Message) -> None:
        now = self._now()
        self._perform(self.coordinator.handle(client.id, message, now), now)
        if type(message) in _SOCKET_FRAMES:
            sender = client.socket(cast("SocketFrame", message).socket_id)
            if sender is not None:
                self._backpressure.pause_sender(sender)

    def await_older_leases(self) -> None:
        """Tell the core that another process may have served this address until just now."""
        now = self._now()
        self._perform(self.coordinator.await_older_leases(now), now)

    def stop(self) -> None:
        """Have the core answer all waiting requests, and close all connections."""
        now = self._now()
        self._perform(self.coordinator.stop(now), now)
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = None

    def open_links(self) -> int:
        """Return the number of open connections to ``/ws``."""
        return len(self._links)

    def queued_bytes(self) -> int:
        """Return the bytes that wait to be sent to the clients of ``/ws``."""
        return sum(link.queued_bytes for link in self._links.values())

    # Effects

    def _perform(self, effects: Effects, now: Moment) -> None:
        recorders = {} if self.event_log.debug else self._recorders
        performers = self._performers
        self._depth += 1
        try:
            for effect in effects:
                write = recorders.get(type(effect))
                if write is not None:
                    write(effect, now.epoch_ms)
                else:
                    performers[type(effect)](effect, now)
        finally:
            self._depth -= 1
        if self._waiting and not self._depth and not self._handling:
            self._handle_waiting()

    def _handle_waiting(self) -> None:
        """Handle the messages that clients sent meanwhile, in turn.

        To handle each where it is sent would recurse: hundreds of clients answer a ping.
        """
        self._handling = True
        try:
            while self._waiting:
                self._handle(*self._waiting.popleft())
        finally:
            self._handling = False

    def _log_and_record(self, record: Record, now: Moment) -> None:
        self.event_log.recorded(record)
        self.writers[type(record)](record, now.epoch_ms)

    def _log_and_record_dated(self, dated: Dated) -> None:
        self.event_log.recorded(dated.record)
        self.dated_writers[type(dated.record)](dated.record, dated.at.epoch_ms)

    def _send(self, send: Send, now: Moment) -> None:
        if self.shown_urls.workers:
            send, *apart = self.shown_urls.divided(send)
            for each in apart:
                # It is not divided any further.
                self._send(each, now)
        clients = self._clients
        if clients and not clients.keys().isdisjoint(send.to) and not self._send_within(send):
            return
        encoders, to = self.shown_urls.encoders, send.to
        encode = encoders.get(to[0], self._encode) if encoders and len(to) == 1 else self._encode
        payload = encode(send.message)
        if len(payload) > MAX_MESSAGE_BYTES:
            self._send_smaller(send, len(payload), now)
            return
        frame, links, kind = text_frame(payload), self._links, type(send.message)
        defers, noted = kind in _DEFERRABLE, kind in _NOTED
        for connection_id in send.to:
            link = links.get(connection_id)
            if link is not None:
                (link.defer if defers else link.send)(frame)
                if noted:
                    self._note_sent(send, link)

    def _note_sent(self, send: Send, link: Link) -> None:
        if isinstance(send.message, SocketFrame):
            self._backpressure.sent_frame(link)
        else:
            self.event_log.sent(send, link.peer)
            self._introduced.add(link.id)
            worker = self.coordinator.state.peers.get(link.id)
            if isinstance(send.message, HelloOk) and isinstance(worker, Worker):
                self.history.tally.joined(link.id)
                if SHOWN_URLS in worker.features:
                    self.shown_urls.add(link.id, worker.redact)
            link.welcome()

    def _send_within(self, send: Send) -> bool:
        """Deliver a message to its receivers in this process, without encoding it.

        :returns: whether it has other receivers.
        """
        others = False
        for connection_id in send.to:
            client = self._clients.get(connection_id)
            if client is None:
                others = True
            else:
                if isinstance(send.message, SocketFrame):
                    receiver = client.socket(send.message.socket_id)
                    if receiver is not None:
                        self._backpressure.sent_frame(receiver)
                client.deliver(self._texts.of(send.message))
        return others

    def _send_smaller(self, send: Send, size: int, now: Moment) -> None:
        """Send a truncated form of a message; if it has none, tell the core that it is not sent."""
        problem = too_large(size, MAX_MESSAGE_BYTES)
        smaller = shrink(send.message, problem)
        if smaller is None:
            self._perform(self.coordinator.undelivered(send.message, problem, now), now)
        else:
            self._send(Send(send.to, smaller), now)

    def _close(self, close: CloseConnection, _: Moment) -> None:
        link = self._links.get(close.connection_id)
        if link is not None:
            link.close(close.code, close.reason)

    def _abort(self, abort: AbortConnection, _: Moment) -> None:
        link = self._links.get(abort.connection_id)
        if link is not None:
            self.log.warn(
                "Connection {peer} cut: {reason}", peer=link.peer, reason=one_line(abort.reason)
            )
            link.abort()

    def _note(self, note: Note, now: Moment) -> None:
        left_out = self._quota.left_out(now.seconds)
        if left_out:
            self.log.warn("{count} lines like the last ones were left out", count=left_out)
        if not self._quota.take(now.seconds):
            return
        text = note.text
        if note.of is not None:
            link = self._links.get(note.of)
            text = f"Connection from {'elsewhere' if link is None else link.peer} {text}"
        self.log.emit(_LEVELS[note.level], "{text}", text=self.event_log.quoted(text))

    def _open_browser_proxy(self, effect: OpenBrowserProxy, now: Moment) -> None:
        """Open the browser proxy of a test, then acknowledge the test, or say why not."""
        registered = effect.registered
        test_id = registered.test_id
        tell = partial(self._tell_untagged, effect.to, test_id)
        called = partial(self.coordinator.browser_proxy_called, test_id)
        if self.browser_proxies is not None:
            try:
                port = self.browser_proxies.open(
                    test_id, effect.context, effect.application, tell, called
                )
            except BrowserProxyError as error:
                self.log.warn("There is no port for a test's browser: {error}", error=error)
                registered = structs.replace(registered, browser_proxy_error=str(error))
            else:
                registered = structs.replace(registered, browser_proxy_port=port)
        self._send(Send((effect.to,), registered), now)

    def _tell_untagged(self, worker_id: str, test_id: str, origin: str) -> None:
        self._send(Send((worker_id,), UntaggedOrigin(test_id, origin)), self._now())

    def _close_browser_proxy(self, effect: CloseBrowserProxy, _: Moment) -> None:
        if self.browser_proxies is not None:
            self.browser_proxies.close(effect.test_id)

    def _now(self) -> Moment:
        return Moment(self.monotonic(), self.epoch_ns() // 1_000_000)

    def _wake(self, wake: Wake, now: Moment) -> None:
        delay = max(_SHORTEST_WAIT, wake.at - now.seconds)
        if self._timer is not None and self._timer.active():
            self._timer.reset(delay)
        else:
            self._timer = self.clock.callLater(delay, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now = self._now()
        for link in self._backpressure.living(self._links.values()):
            self.coordinator.progressed(link.id, now)
        self._perform(self.coordinator.tick(now), now)


def _ignore(record: Any, at: int) -> None:
    pass
