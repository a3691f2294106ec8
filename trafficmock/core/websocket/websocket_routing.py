"""Finds the owners of WebSockets, and handles their closes and failures."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import ClassVar

from attrs import define, field
from msgspec import UNSET, UnsetType

from trafficmock import records
from trafficmock.core import error_messages
from trafficmock.core.deadlines import Deadline
from trafficmock.core.effects import EffectList
from trafficmock.core.ownership.claims import Claimant
from trafficmock.core.ownership.owner_resolution import OwnerResolution, elsewhere_of_own_call
from trafficmock.core.state.lifecycle import CloseMessage, Socket, context_of
from trafficmock.core.state.peers import Agent
from trafficmock.core.state.registered import Kind, RegisteredTest
from trafficmock.core.state.stages import SocketStage
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import CHAIN, CONTEXT
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic

GRACE = 5.0
"""Seconds after the application's close in which the closes of the other side are passed on."""


@define
class WebSocketRouting(OwnerResolution[Socket]):
    """The WebSockets of all agents that are held or matched.

    :ivar closing: for WebSockets that the application closed, the time at which they are
        forgotten, in monotonic seconds.
    """

    kind: ClassVar[Kind] = "websocket"

    closing: dict[str, Deadline] = field(factory=dict)

    # Opening

    def open(self, agent: Agent, message: inbound.SocketOpen, out: EffectList) -> None:
        """Handle ``ws:connection``: record the WebSocket, and find its owner."""
        socket_id = message.socket_id
        if socket_id in self.state.sockets:
            text = f"The socket id {socket_id} is in use; the first holder keeps it."
            out.note("warn", f"{message.client_id!r}: {text}")
            out.send(agent.id, outbound.SocketError(socket_id, "internal", text))
            return
        context_test = None
        if message.context is not UNSET and CONTEXT in agent.features:
            context_test = self.state.contexts.seen(message.context, out.now.seconds)
        socket = Socket(
            id=socket_id,
            client_id=message.client_id,
            url=message.url,
            protocols=message.protocols,
            agent=agent,
            context_test=context_test,
            elsewhere=elsewhere_of_own_call(agent, message.url, self.state.settings.own_hosts),
        )
        self.state.sockets[socket_id] = agent.sockets[socket_id] = socket
        out.record(
            records.SocketSeen(
                socket_id,
                socket.client_id,
                socket.url,
                socket.protocols,
                carried=None if context_test is None else context_test.carried,
            )
        )
        self._find_owner(socket, socket.url, "GET", out)

    def _find(self, socket_id: str) -> Socket:
        return self.state.sockets[socket_id]

    def _claiming(self, socket: Socket) -> outbound.SocketClaim:
        socket.step(SocketStage.CLAIMING)
        context: outbound.Context | UnsetType = context_of(socket.context_test)
        return outbound.SocketClaim(
            socket.id, socket.url, socket.protocols, socket.client_id, context
        )

    def _match(self, socket: Socket, claimant: Claimant, out: EffectList) -> None:
        test, routes = claimant
        socket.step(SocketStage.MATCHED)
        socket.test = test
        test.sockets[socket.id] = socket
        self.state.owner_timeouts.begin(
            socket, test.worker, partial(self.owner_silent, socket), out
        )
        # The npm worker finds the handler by itself; it is told its oldest route.
        route = routes[-1 if CHAIN in test.worker.features else 0]
        owner = socket.owner = self._owner(socket, test, route)
        out.record(records.SocketOwned(socket.id, owner))
        match = outbound.SocketMatched(
            socket.id,
            owner.route_id,
            test.id,
            socket.url,
            socket.protocols,
            socket.client_id,
            context_of(socket.context_test),
        )
        out.send(test.worker.id, match)
        for message, since in socket.early.values():
            self._pass_close_on(socket, test, message, since, out)

    def _await_body(self, pending: Socket, out: EffectList) -> None:
        """Wait for nothing: the routes of WebSockets look at the URL only."""

    def _pass_through(self, socket: Socket, out: EffectList) -> None:
        self._forget(socket)
        out.record(records.SocketPassedThrough(socket.id, socket.also_matched))
        out.send(socket.agent.id, outbound.SocketPassthrough(socket.id))

    def fail(
        self,
        socket: Socket,
        code: outbound.ErrorCode,
        text: str,
        out: EffectList,
        *,
        matches: list[RouteMatchDiagnostic] | None = None,
    ) -> None:
        """End a WebSocket by an error; one that the application closed is only forgotten.

        :param matches: the matching routes of an ambiguous WebSocket.
        """
        self._forget(socket)
        if "page" in socket.closed:
            return
        out.record(records.SocketFailed(socket.id, socket.owner, code, text, matches))
        known = outbound.known_code(code, socket.agent.features)
        refusal = outbound.SocketError(socket.id, known, text, matches or UNSET)
        out.send(socket.agent.id, refusal)

    # Closes

    def close_by_agent(
        self,
        agent: Agent,
        message: CloseMessage,
        out: EffectList,
    ) -> None:
        """Handle the close of a side; without an owner so far, the owner gets it later."""
        socket = agent.sockets.get(message.socket_id)
        if socket is None:
            return
        if socket.test is None:
            socket.early.setdefault(type(message), (message, out.now.seconds))
        else:
            self._pass_close_on(socket, socket.test, message, out.now.seconds, out)

    def _pass_close_on(
        self,
        socket: Socket,
        test: RegisteredTest,
        message: CloseMessage,
        since: float,
        out: EffectList,
    ) -> None:
        """Send a close to the owner; after that of the application, start the grace time.

        :param since: the time of the close in monotonic seconds.
        """
        socket.record_close(message, out)
        out.send(test.worker.id, message)
        if isinstance(message, inbound.ClosePage) and socket.stage is SocketStage.MATCHED:
            socket.step(SocketStage.CLOSING)
            forget = partial(self._forget_closed, socket)
            self.closing[socket.id] = self.state.deadlines.add(since + GRACE, forget, out)

    # Ends

    def _forget_closed(self, socket: Socket, _: EffectList) -> None:
        """Forget a closed WebSocket whose grace time is over."""
        self._forget(socket)

    def close_those_of(self, test: RegisteredTest, most: int, out: EffectList) -> int:
        """Close the WebSockets of an ended test with code 1001.

        :returns: the number of closed WebSockets, at most ``most``.
        """
        left_open = list(islice(test.sockets.values(), most))
        for socket in left_open:
            for close in socket.closes(1001, "The test ended.", was_clean=True):
                socket.record_close(close, out)
                out.send(socket.agent.id, close)
            self._forget(socket)
        return len(left_open)

    def fail_those_of(self, test: RegisteredTest, most: int, out: EffectList) -> int:
        """Fail the WebSockets of a test whose worker has disconnected.

        :returns: the number of failed WebSockets, at most ``most``.
        """
        lost = list(islice(test.sockets.values(), most))
        for socket in lost:
            text = error_messages.socket_owner_lost(socket.subject, test)
            self._fail_both_sides(socket, "disconnected", text, out)
        return len(lost)

    def owner_silent(self, socket: Socket, out: EffectList) -> None:
        """Fail a WebSocket whose owner's worker gave no sign of life in time.

        The worker gets closes of both sides, in case it continues.
        """
        test = socket.test
        if test is None:
            return
        milliseconds = round(self.state.settings.claim_timeout * 1000)
        text = error_messages.owner_silent(socket.subject, milliseconds, test)
        for close in socket.closes(1006, text, was_clean=False):
            out.send(test.worker.id, close)
        self._fail_both_sides(socket, "claim_timeout", text, out)

    def _fail_both_sides(
        self, socket: Socket, code: outbound.ErrorCode, text: str, out: EffectList
    ) -> None:
        """Fail a WebSocket whose owner is lost, and close its connection to the real server."""
        if socket.connected and "server" not in socket.closed:
            close = inbound.CloseServer(socket.id, was_clean=False, code=1011)
            out.send(socket.agent.id, close)
        self.fail(socket, code, text, out)

    def agent_lost(self, agent: Agent, text: str, most: int, out: EffectList) -> int:
        """End the WebSockets of a disconnected agent; the owners get closes of both sides.

        :returns: the number of ended WebSockets, at most ``most``.
        """
        lost = list(islice(agent.sockets.values(), most))
        for socket in lost:
            if "page" not in socket.closed:
                failed = records.SocketFailed(socket.id, socket.owner, "disconnected", text, None)
                out.record(failed)
            if socket.test is not None:
                for close in socket.closes(1006, text, was_clean=False):
                    out.send(socket.test.worker.id, close)
            self._forget(socket)
        return len(lost)

    def _forget(self, socket: Socket) -> None:
        socket.step(SocketStage.GONE)
        del self.state.sockets[socket.id]
        del socket.agent.sockets[socket.id]
        self.state.deadlines.cancel(self.closing.pop(socket.id, None))
        if socket.claim is not None:
            self.state.claims.drop(socket.claim)
            socket.claim = None
        if socket.test is not None:
            self.state.owner_timeouts.end(socket, socket.test.worker)
            del socket.test.sockets[socket.id]
            socket.test = None
