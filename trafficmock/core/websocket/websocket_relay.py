"""What passes between an application's WebSocket and the test that owns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import define

from trafficmock import records
from trafficmock.wire import inbound

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.lifecycle import CloseMessage, Socket
    from trafficmock.core.peers import Agent, Worker


@define
class WebSocketRelay:
    """Passes frames and closes on, and records them.

    :param sockets: those that are held or matched, by id.
    """

    sockets: dict[str, Socket]

    def from_agent(
        self,
        agent: Agent,
        message: inbound.MessageFromPage | inbound.MessageFromServer,
        out: EffectList,
    ) -> None:
        """Pass a frame on to the owner."""
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
        """Pass a handler's frame on to the application's side."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is None:
            return
        if isinstance(message, inbound.SendToPage):
            out.record(_frame(message, "server", "handler sendToPage"))
        else:
            out.record(_frame(message, "client", "handler sendToServer"))
        out.send(socket.agent.id, message)

    def act(
        self,
        worker: Worker,
        message: inbound.SocketConnect | inbound.SocketEnsureOpened,
        out: EffectList,
    ) -> None:
        """Open the real upstream, or the mocked socket."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is None:
            return
        connect = isinstance(message, inbound.SocketConnect)
        socket.connected = socket.connected or connect
        detail = "connect" if connect else "ensureOpened"
        out.record(
            records.SocketActivity(socket.id, "system", "handler", detail, None, is_base64=None)
        )
        out.send(socket.agent.id, message)

    def close_by_worker(self, worker: Worker, message: CloseMessage, out: EffectList) -> None:
        """Pass a handler's close on to the application's side."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is not None:
            socket.record_close(message, out)
            out.send(socket.agent.id, message)

    def _owned(self, worker: Worker, socket_id: str, out: EffectList) -> Socket | None:
        """Find a worker's socket; one it does not own is somebody else's, or long gone."""
        socket = self.sockets.get(socket_id)
        if socket is None:
            return None
        if socket.test is None or socket.test.worker is not worker:
            text = f"{worker.client_id} spoke for a socket it does not own: {socket.url}"
            out.note("warn", text)
            return None
        return socket


def _frame(
    message: inbound.SocketFrame, direction: Literal["client", "server"], detail: str | None
) -> records.SocketActivity:
    return records.SocketActivity(
        message.socket_id, direction, "frame", detail, message.data, message.is_base64
    )
