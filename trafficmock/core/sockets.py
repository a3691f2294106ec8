"""The life of a WebSocket from its opening to both its closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import define, field
from msgspec import UNSET

from trafficmock.core import records, texts
from trafficmock.core.effects import Effects, Note, Send
from trafficmock.core.lifecycle import SocketStage as Stage
from trafficmock.core.lifecycle import socket_step
from trafficmock.core.ownership import to_be_asked
from trafficmock.wire import inbound, outbound

if TYPE_CHECKING:
    from trafficmock.core.alarm import Alarm
    from trafficmock.core.claims import Claim, Claimant, Claims
    from trafficmock.core.moment import Moment
    from trafficmock.core.parties import Agent, Worker
    from trafficmock.core.registry import Judgement, Registry, Test
    from trafficmock.core.settings import Settings
    from trafficmock.wire.matcher import Diagnostic

GRACE = 5.0
"""Seconds in which the echoes of a close are still passed on after the application closed."""

Side = Literal["page", "server"]


@define(eq=False, kw_only=True)
class Socket:
    """A WebSocket of an application.

    :param connected: the handler asked for the real upstream.
    :param closed: the sides whose close was recorded.
    :param early: closes that came before there was an owner to tell, and when.
    """

    id: str
    client_id: str
    url: str
    protocols: list[str]
    agent: Agent
    stage: Stage = Stage.HELD
    claim: Claim | None = None
    test: Test | None = None
    owner: records.Owner | None = None
    connected: bool = False
    closed: set[Side] = field(factory=set)
    early: dict[type, tuple[inbound.ClosePage | inbound.CloseServer, float]] = field(factory=dict)

    def __str__(self) -> str:
        return f"the WebSocket {self.url}"

    def step(self, stage: Stage) -> None:
        """Go on to ``stage``, if the table has that step."""
        self.stage = socket_step(self.stage, stage)


@define
class Sockets:
    """All WebSockets that are held or matched, by id; ``closing`` is when to forget which."""

    settings: Settings
    registry: Registry
    claims: Claims
    alarm: Alarm
    sockets: dict[str, Socket] = field(factory=dict)
    closing: dict[str, float] = field(factory=dict)

    # Opening

    def open(self, agent: Agent, message: inbound.SocketOpen, now: Moment, out: Effects) -> None:
        """Take a new WebSocket and find its owner."""
        socket_id = message.socket_id
        if socket_id in self.sockets:
            text = f"The socket id {socket_id} is in use; the first holder keeps it."
            out.append(Note("warn", f"{message.client_id!r}: {text}"))
            out.append(Send((agent.id,), outbound.SocketError(socket_id, "internal", text)))
            return
        socket = Socket(
            id=socket_id,
            client_id=message.client_id,
            url=message.url,
            protocols=message.protocols,
            agent=agent,
        )
        self.sockets[socket_id] = agent.sockets[socket_id] = socket
        out.append(records.SocketSeen(socket_id, socket.client_id, socket.url, socket.protocols))
        judgement = self._judge(socket)
        if judgement is None:
            self._pass_through(socket, out)
        else:
            self._ask(socket, judgement, now, out)

    def _judge(self, socket: Socket) -> Judgement | None:
        if self.settings.ownership == "always-ask":
            return self.registry.everybody("websocket")
        return self.registry.judge("websocket", socket.url, "GET", socket.client_id)

    def _ask(self, socket: Socket, judgement: Judgement, now: Moment, out: Effects) -> None:
        socket.step(Stage.CLAIMING)
        asked = to_be_asked("websocket", judgement)
        socket.claim = self.claims.begin(
            "websocket",
            socket.id,
            sequence=self.registry.sequence,
            deadline=now.seconds + self.settings.claim_timeout,
            asked=asked,
            judgement=judgement,
        )
        workers = tuple({test.worker.id: None for test in asked.values()})
        question = outbound.SocketClaim(socket.id, socket.url, socket.protocols, socket.client_id)
        out.append(Send(workers, question))
        self.alarm.need(socket.claim.deadline, out)

    def claimed(self, claim: Claim, out: Effects) -> None:
        """Act on a round in which everybody has answered."""
        socket = self.sockets[claim.subject_id]
        socket.claim = None
        claimants = claim.claimants(self.registry)
        if not claimants:
            self._pass_through(socket, out)
        elif len(claimants) == 1:
            self._match(socket, claimants[0], out)
        else:
            self._ambiguous(socket, claimants, out)

    def claim_expired(self, claim: Claim, out: Effects) -> None:
        """Act on a round whose time is up."""
        socket = self.sockets[claim.subject_id]
        milliseconds = round(self.settings.claim_timeout * 1000)
        text = texts.claim_timeout(str(socket), milliseconds, claim.waiting.values())
        self.fail(socket, "claim_timeout", text, out)

    def _match(self, socket: Socket, claimant: Claimant, out: Effects) -> None:
        test, routes = claimant
        socket.step(Stage.MATCHED)
        socket.test = test
        test.sockets[socket.id] = socket
        route_id = routes[0].id
        owner = socket.owner = records.Owner(test.id, route_id, test.title, test.file)
        out.append(records.SocketMatched(socket.id, owner))
        match = outbound.SocketMatched(
            socket.id, route_id, test.id, socket.url, socket.protocols, socket.client_id
        )
        out.append(Send((test.worker.id,), match))
        for message, since in socket.early.values():
            self._pass_close_on(socket, test, message, since, out)

    def _pass_through(self, socket: Socket, out: Effects) -> None:
        self._forget(socket)
        out.append(records.SocketPassedThrough(socket.id))
        out.append(Send((socket.agent.id,), outbound.SocketPassthrough(socket.id)))

    def _ambiguous(self, socket: Socket, claimants: list[Claimant], out: Effects) -> None:
        matches = [route.diagnostic(test) for test, routes in claimants for route in routes]
        text = texts.ambiguous(str(socket), claimants)
        self.fail(socket, "ambiguous_route", text, out, matches=matches)
        for test, _ in claimants:
            complaint = outbound.ProxyError("ambiguous_route", text, test.id, matches)
            out.append(Send((test.worker.id,), complaint))

    def fail(
        self,
        socket: Socket,
        code: outbound.ErrorCode,
        text: str,
        out: Effects,
        *,
        matches: list[Diagnostic] | None = None,
    ) -> None:
        """Fail a WebSocket that nobody can decide about any more; a closed one stays as it is."""
        self._forget(socket)
        if "page" in socket.closed:
            return
        out.append(records.SocketFailed(socket.id, socket.owner, code, text, matches))
        refusal = outbound.SocketError(socket.id, code, text, matches or UNSET)
        out.append(Send((socket.agent.id,), refusal))

    # Frames and closes

    def from_agent(
        self,
        agent: Agent,
        message: inbound.MessageFromPage | inbound.MessageFromServer,
        out: Effects,
    ) -> None:
        """Pass a frame on to the owner."""
        socket = agent.sockets.get(message.socket_id)
        if socket is None or socket.test is None:
            return
        direction: Literal["client", "server"] = (
            "client" if isinstance(message, inbound.MessageFromPage) else "server"
        )
        out.append(_frame(message, direction, None))
        out.append(Send((socket.test.worker.id,), message))

    def from_worker(
        self,
        worker: Worker,
        message: inbound.SendToPage | inbound.SendToServer,
        out: Effects,
    ) -> None:
        """Pass a handler's frame on to the application's side."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is None:
            return
        if isinstance(message, inbound.SendToPage):
            out.append(_frame(message, "server", "handler sendToPage"))
        else:
            out.append(_frame(message, "client", "handler sendToServer"))
        out.append(Send((socket.agent.id,), message))

    def act(
        self,
        worker: Worker,
        message: inbound.SocketConnect | inbound.SocketEnsureOpened,
        out: Effects,
    ) -> None:
        """Open the real upstream, or the mocked socket."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is None:
            return
        connect = isinstance(message, inbound.SocketConnect)
        socket.connected = socket.connected or connect
        detail = "connect" if connect else "ensureOpened"
        out.append(
            records.SocketEvent(socket.id, "system", "handler", detail, None, is_base64=None)
        )
        out.append(Send((socket.agent.id,), message))

    def close_by_agent(
        self,
        agent: Agent,
        message: inbound.ClosePage | inbound.CloseServer,
        now: Moment,
        out: Effects,
    ) -> None:
        """Pass on that a side closed; an owner that is not known yet hears of it later."""
        socket = agent.sockets.get(message.socket_id)
        if socket is None:
            return
        if socket.test is None:
            socket.early.setdefault(type(message), (message, now.seconds))
        else:
            self._pass_close_on(socket, socket.test, message, now.seconds, out)

    def _pass_close_on(
        self,
        socket: Socket,
        test: Test,
        message: inbound.ClosePage | inbound.CloseServer,
        since: float,
        out: Effects,
    ) -> None:
        """Tell the owner that a side closed; after the application's own, only echoes follow."""
        self._record_close(socket, message, out)
        out.append(Send((test.worker.id,), message))
        if isinstance(message, inbound.ClosePage) and socket.stage is Stage.MATCHED:
            socket.step(Stage.CLOSING)
            self.closing[socket.id] = since + GRACE
            self.alarm.need(since + GRACE, out)

    def close_by_worker(
        self, worker: Worker, message: inbound.ClosePage | inbound.CloseServer, out: Effects
    ) -> None:
        """Pass a handler's close on to the application's side."""
        socket = self._owned(worker, message.socket_id, out)
        if socket is not None:
            self._record_close(socket, message, out)
            out.append(Send((socket.agent.id,), message))

    def _owned(self, worker: Worker, socket_id: str, out: Effects) -> Socket | None:
        """Find a worker's socket; one it does not own is somebody else's, or long gone."""
        socket = self.sockets.get(socket_id)
        if socket is None:
            return None
        if socket.test is None or socket.test.worker is not worker:
            text = f"{worker.client_id} spoke for a socket it does not own: {socket.url}"
            out.append(Note("warn", text))
            return None
        return socket

    @staticmethod
    def _record_close(
        socket: Socket, message: inbound.ClosePage | inbound.CloseServer, out: Effects
    ) -> None:
        side: Side = "page" if isinstance(message, inbound.ClosePage) else "server"
        if side in socket.closed:
            return
        socket.closed.add(side)
        code = message.code if message.code is not UNSET else None
        reason = message.reason if message.reason is not UNSET else None
        out.append(records.SocketClosed(socket.id, side, code, reason, message.was_clean))

    # Ends

    def forget_closed(self, now: float) -> None:
        """Free the sockets whose time for echoes is over."""
        for socket_id, until in list(self.closing.items()):
            if until > now:
                return
            self._forget(self.sockets[socket_id])

    def next_deadline(self) -> float | None:
        """Tell when the next time for echoes ends."""
        return next(iter(self.closing.values()), None)

    def test_ended(self, test: Test, out: Effects) -> None:
        """Close what an ended test left open, cleanly, so that the application notices."""
        for socket in list(test.sockets.values()):
            for close in self._closes(socket, 1001, "The test ended.", was_clean=True):
                self._record_close(socket, close, out)
                out.append(Send((socket.agent.id,), close))
            self._forget(socket)

    def worker_lost(self, test: Test, out: Effects) -> None:
        """Fail what a lost worker owned; what was closed already stays as it is."""
        for socket in list(test.sockets.values()):
            if socket.connected and "server" not in socket.closed:
                close = inbound.CloseServer(socket.id, was_clean=False, code=1011)
                out.append(Send((socket.agent.id,), close))
            self.fail(socket, "disconnected", texts.worker_lost(str(socket), test), out)

    def agent_lost(self, agent: Agent, text: str, out: Effects) -> None:
        """Tell owners that both sides are gone; what was closed already stays as it is."""
        for socket in list(agent.sockets.values()):
            if "page" not in socket.closed:
                failed = records.SocketFailed(socket.id, socket.owner, "disconnected", text, None)
                out.append(failed)
            if socket.test is not None:
                for close in self._closes(socket, 1006, text, was_clean=False):
                    out.append(Send((socket.test.worker.id,), close))
            self._forget(socket)

    @staticmethod
    def _closes(
        socket: Socket, code: int, reason: str, *, was_clean: bool
    ) -> list[inbound.ClosePage | inbound.CloseServer]:
        """Write the close of the page's side and, where there is one, of the server's."""
        closes: list[inbound.ClosePage | inbound.CloseServer] = []
        if "page" not in socket.closed:
            closes.append(inbound.ClosePage(socket.id, was_clean, code, reason))
        if socket.connected and "server" not in socket.closed:
            closes.append(inbound.CloseServer(socket.id, was_clean, code, reason))
        return closes

    def _forget(self, socket: Socket) -> None:
        socket.step(Stage.GONE)
        del self.sockets[socket.id]
        del socket.agent.sockets[socket.id]
        self.closing.pop(socket.id, None)
        if socket.claim is not None:
            self.claims.drop(socket.claim)
            socket.claim = None
        if socket.test is not None:
            del socket.test.sockets[socket.id]
            socket.test = None


def _frame(
    message: inbound.SocketFrame, direction: Literal["client", "server"], detail: str | None
) -> records.SocketEvent:
    return records.SocketEvent(
        message.socket_id, direction, "frame", detail, message.data, message.is_base64
    )
