"""Passes frames and closes between an application's WebSocket and the owner's handler."""

from __future__ import annotations

from typing import Literal

from attrs import define

from trafficmock import records
from trafficmock.core.effects import EffectList
from trafficmock.core.state.lifecycle import CloseMessage, Socket
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.core.websocket.websocket_routing import WebSocketRouting
from trafficmock.texts.wording import Wording
from trafficmock.wire import inbound


@define
class WebSocketRelay:
    """Passes frames and closes, and records them.

    :param routing: has the WebSockets, and refuses those that strict mode does not allow.
    """

    routing: WebSocketRouting

    def from_agent(
        self,
        agent: Agent,
        message: inbound.MessageFromPage | inbound.MessageFromServer,
        out: EffectList,
    ) -> None:
        """Send a frame of the application or of the real server to the owner."""
        socket = agent.sockets.get(message.socket_id)
        if socket is None or socket.test is None:
            return
        direction: Literal["client", "server"] = (
            "client" if isinstance(message, inbound.MessageFromPage) else "server"
        )
        out.record(_frame(message, direction, None))
        out.send(socket.test.worker.id, message)

    def from_worker(
        self,
        worker: Worker,
        message: inbound.SendToPage | inbound.SendToServer,
        out: EffectList,
    ) -> None:
        """Send a frame of the handler to the agent."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is None:
            return
        if isinstance(message, inbound.SendToPage):
            out.record(_frame(message, "server", "handler sendToPage"))
        else:
            out.record(_frame(message, "client", "handler sendToServer"))
        out.send(socket.agent.id, message)

    def connect(self, worker: Worker, message: inbound.SocketConnect, out: EffectList) -> None:
        """Connect a WebSocket to the real server."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is None:
            return
        socket.connected = True
        self._act(socket, "connect", inbound.SocketConnect(socket.id), out)

    def ensure_opened(
        self, worker: Worker, message: inbound.SocketEnsureOpened, out: EffectList
    ) -> None:
        """Open the mocked WebSocket in the application."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is not None:
            self._act(socket, "ensureOpened", message, out)

    def _act(self, socket: Socket, detail: str, message: inbound.Message, out: EffectList) -> None:
        out.record(
            records.SocketActivity(socket.id, "system", "handler", detail, None, is_base64=None)
        )
        out.send(socket.agent.id, message)

    def close_by_worker(self, worker: Worker, message: CloseMessage, out: EffectList) -> None:
        """Send a close of the handler to the agent."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is not None:
            socket.record_close(message, out)
            out.send(socket.agent.id, message)

    def _owned(self, worker: Worker, socket_id: str, out: EffectList) -> Socket | None:
        """Return a WebSocket that the worker owns, else ``None``; a foreign one is logged."""
        socket = self.routing.state.sockets.get(socket_id)
        if socket is None:
            return None
        if socket.test is None or socket.test.worker is not worker:
            what = f"{worker.client_id} spoke for a socket it does not own: "
            out.note("warn", Wording(what, socket.subject))
            return None
        return socket


def _frame(
    message: inbound.SocketFrame, direction: Literal["client", "server"], detail: str | None
) -> records.SocketActivity:
    return records.SocketActivity(
        message.socket_id, direction, "frame", detail, message.data, message.is_base64
    )
