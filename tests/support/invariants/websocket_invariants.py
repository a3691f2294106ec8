"""What became of each WebSocket: seen first, decided once, closed once for each side."""

from typing import Any

from attrs import define, field

from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import InvalidMessageError

OF_SOCKETS = (
    records.SocketOwned,
    records.SocketPassedThrough,
    records.SocketFailed,
    records.SocketActivity,
    records.SocketClosed,
)
FRAMES = (inbound.SocketFrame, inbound.SocketConnect, inbound.SocketEnsureOpened)


@define
class SocketRow:
    """One life of a socket id."""

    agent: str
    state: str = "held"
    owner: str | None = None
    closed: set[str] = field(factory=set)


@define
class SocketInvariants:
    """The books about WebSockets."""

    rows: dict[str, SocketRow] = field(factory=dict)
    _refused: str | None = None

    def took(self, effects: Effects, sender: str | None, cause: object, agents: set[str]) -> None:
        """Check what an event led to; ``agents`` are there to hear of it."""
        self._refused = self._to_be_refused(sender, cause, agents)
        for effect in effects:
            if isinstance(effect, Send):
                self._sent(effect)
            elif isinstance(effect, records.SocketSeen):
                row = self.rows.get(effect.socket_id)
                alive = row is not None and row.state == "held"
                assert not alive, f"seen while held: {effect}"
                assert sender is not None
                self.rows[effect.socket_id] = SocketRow(sender)
            elif isinstance(effect, OF_SOCKETS):
                self._recorded(self.rows[effect.socket_id], effect)

    def undecided(self) -> list[str]:
        """List the sockets that still wait for a decision."""
        return [socket_id for socket_id, row in self.rows.items() if row.state == "held"]

    def _to_be_refused(self, sender: str | None, cause: object, agents: set[str]) -> str | None:
        if sender in agents:
            if isinstance(cause, InvalidMessageError) and cause.type == "ws:connection":
                return cause.ids.get("socketId")
            if isinstance(cause, inbound.SocketOpen):
                return cause.socket_id
        return None

    def _recorded(self, row: SocketRow, record: Any) -> None:
        match record:
            case records.SocketOwned():
                assert row.state == "held", f"matched late: {record}"
                row.state = "matched"
            case records.SocketPassedThrough():
                assert row.state == "held", f"passed late: {record}"
                row.state = "passthrough"
            case records.SocketFailed():
                assert row.state in {"held", "matched"}, f"failed late: {record}"
                assert "page" not in row.closed, f"failed after its close: {record}"
                owned = row.state == "matched"
                assert owned == (record.owner is not None), f"wrong owner: {record}"
                row.state = "failed"
            case records.SocketClosed():
                assert record.side not in row.closed, f"closed again: {record}"
                row.closed.add(record.side)
            case records.SocketActivity():
                assert row.state == "matched", f"event of nobody's socket: {record}"

    def _sent(self, send: Send) -> None:
        message = send.message
        if isinstance(message, outbound.SocketError):
            row = self.rows.get(message.socket_id)
            refusal = message.socket_id == self._refused and message.code == "internal"
            assert refusal or (row is not None and row.state == "failed"), f"in error: {send}"
            assert refusal or send.to == (row.agent if row else "",), f"to a stranger: {send}"
        elif isinstance(message, outbound.SocketPassthrough):
            row = self.rows[message.socket_id]
            assert row.state == "passthrough", f"passed and not recorded: {send}"
            assert send.to == (row.agent,), f"to a stranger: {send}"
        elif isinstance(message, outbound.SocketMatched):
            row = self.rows[message.socket_id]
            assert row.state == "matched", f"matched and not recorded: {send}"
            assert row.owner is None, f"matched again: {send}"
            (row.owner,) = send.to
        elif isinstance(message, FRAMES):
            row = self.rows[message.socket_id]
            assert send.to in {(row.agent,), (row.owner,)}, f"to a stranger: {send}"
