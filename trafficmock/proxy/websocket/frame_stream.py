"""One side of a WebSocket after its handshake: sends and receives messages (RFC 6455)."""

from __future__ import annotations

from typing import Any, Protocol

from twisted.internet.interfaces import IDelayedCall, IPushProducer, IReactorTime
from wsproto.connection import CLIENT, SERVER, Connection, ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage
from wsproto.utilities import LocalProtocolError
from zope.interface import implementer

from trafficmock.proxy.websocket.event_turns import EventTurns
from trafficmock.proxy.websocket.message_pieces import MessagePieces

NORMAL, TOO_BIG, ABNORMAL = 1000, 1009, 1006
CLOSE_SECONDS = 5.0
"""How long the peer may take to answer a close frame; then the connection is aborted."""

_LONGEST_REASON = 123
_SENDABLE = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014)
_PRIVATE = range(3000, 5000)


class FrameStreamListener(Protocol):
    """Handles the messages of a stream, and is paused while the peer reads too slowly."""

    def message(self, data: str | bytes) -> None:
        """Handle a message."""

    def closed(self, code: int, reason: str, *, clean: bool) -> None:
        """Handle the end of the stream; called once.

        :param clean: whether close frames were exchanged (RFC 6455 section 7.1.4).
        """

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Stop sending."""

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Resume sending."""


@implementer(IPushProducer)
class FrameStream:
    """Speaks frames with a peer over a transport whose handshake is done.

    While the peer reads too slowly, its pings are not answered; afterwards only the latest one is,
    as RFC 6455 section 5.5.3 allows. A peer that pings and does not read cannot fill the memory.

    No extension is used, so messages are not compressed. Many small frames that arrive at once are
    handled over several turns of the reactor; the transport is not read meanwhile.

    :param owner: handles messages and the close.
    :param client: whether the proxy is the client of the handshake.
    :param longest: the size of the largest message, in bytes, or characters of text.
    """

    def __init__(
        self,
        transport: Any,
        owner: FrameStreamListener,
        clock: IReactorTime,
        *,
        client: bool,
        longest: int,
    ) -> None:
        transport.registerProducer(self, True)  # noqa: FBT003 - Twisted's
        self._transport = transport
        self._owner = owner
        self._clock = clock
        self._longest = longest
        self._connection = Connection(CLIENT if client else SERVER)
        self._is_client = client
        self._said: tuple[int, str] | None = None
        self._text = MessagePieces("")
        self._bytes = MessagePieces(b"")
        self._over = False
        self._backlogged = False
        self._unanswered: Ping | None = None
        self._timer: IDelayedCall | None = None
        self._turns = EventTurns(
            self._connection, transport, clock, take=self._take, ended=self._cut_short
        )

    @property
    def open(self) -> bool:
        """Whether messages can be sent."""
        return self._connection.state is ConnectionState.OPEN and not self._over

    def data_received(self, data: bytes) -> None:
        """Handle received bytes."""
        if self._connection.state is ConnectionState.CLOSED or self._over:
            return
        self._turns.received(data)

    def pause(self) -> None:
        """Stop reading, and handle no more of the frames that were read already."""
        self._turns.pause()

    def resume(self) -> None:
        self._turns.resume()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Pause the owner, because the peer reads too slowly."""
        self._backlogged = True
        self._owner.pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Answer the latest ping, and resume the owner."""
        self._backlogged = False
        ping, self._unanswered = self._unanswered, None
        if ping is not None and self.open:
            self._answer(ping)
        self._owner.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: the owner of the transport calls :meth:`lost`."""

    def send(self, data: str | bytes) -> None:
        """Send a message; a closed stream drops it, as browsers do."""
        if self.open:
            event = TextMessage(data) if isinstance(data, str) else BytesMessage(data)
            self._transport.write(self._connection.send(event))

    def close(self, code: int | None, reason: str) -> None:
        """Send a close frame and wait for the peer's, :data:`CLOSE_SECONDS` at most.

        :param code: with 1006, the code of a connection that ended without a close frame (RFC 6455
            section 7.1.5), this connection is ended without one, too.
        """
        if not self.open:
            return
        if code == ABNORMAL:
            self._end(ABNORMAL, "", clean=False)
            return
        self._say_goodbye(code, reason)
        self._timer = self._clock.callLater(CLOSE_SECONDS, self._cut)

    def lost(self) -> None:
        """Handle the loss of the connection; frames that were read before are still handled."""
        self._turns.transport_lost()

    def _cut_short(self) -> None:
        self._end(ABNORMAL, "", clean=False)

    def _take(self, event: Any) -> None:
        match event:
            case TextMessage() | BytesMessage():
                self._add(event)
            case Ping() if self.open:
                self._answer(event)
            case CloseConnection():
                self._goodbye(event)
            case _:
                return

    def _answer(self, ping: Ping) -> None:
        if self._backlogged:
            self._unanswered = ping
        else:
            self._transport.write(self._connection.send(ping.response()))

    def _add(self, event: TextMessage | BytesMessage) -> None:
        pieces: Any = self._text if isinstance(event, TextMessage) else self._bytes
        pieces.add(event.data)
        if pieces.size > self._longest:
            self._say_goodbye(TOO_BIG, "the message is over --max-frame-bytes")
            self._end(TOO_BIG, "", clean=False)
        elif event.message_finished:
            self._owner.message(pieces.take())

    def _goodbye(self, event: CloseConnection) -> None:
        """Handle the peer's close frame, its answer to a close frame, or a protocol error."""
        state = self._connection.state
        if state is ConnectionState.CLOSED:
            self._end(int(event.code), self._reason(event), clean=True)
        elif state is ConnectionState.REMOTE_CLOSING:
            self._transport.write(self._connection.send(event.response()))
            self._end(int(event.code), event.reason or "", clean=True)
        else:
            self._say_goodbye(int(event.code), event.reason or "")
            self._end(int(event.code), event.reason or "", clean=False)

    def _reason(self, answer: CloseConnection) -> str:
        """Return the reason that is reported after the peer answered a close frame.

        Many clients answer with the code alone, though they pass the reason that they received to
        the application; then the test gets that reason, too. A server's own reason is not changed.
        """
        if self._said is None or self._is_client or answer.reason:
            return answer.reason or ""
        code, reason = self._said
        return reason if int(answer.code) == code else ""

    def _say_goodbye(self, code: int | None, reason: str) -> None:
        if code is None or not (code in _SENDABLE or code in _PRIVATE):
            code = NORMAL
        cut = reason.encode("utf-8", "replace")[:_LONGEST_REASON].decode("utf-8", "ignore")
        try:
            goodbye = self._connection.send(CloseConnection(code, cut or None))
        except LocalProtocolError:
            return
        self._said = (code, cut)
        self._transport.write(goodbye)

    def _cut(self) -> None:
        self._timer = None
        self._transport.abortConnection()

    def _end(self, code: int, reason: str, *, clean: bool) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._over:
            self._over = True
            self._turns.stop()
            if not self._turns.lost:
                self._transport.unregisterProducer()
                self._transport.loseConnection()
            self._owner.closed(code, reason, clean=clean)
