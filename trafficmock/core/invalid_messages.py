"""Handles messages that are invalid or cannot be sent: answers the peers that wait for them."""

from __future__ import annotations

from attrs import define
from msgspec import UNSET

from trafficmock.core.effects import EffectList
from trafficmock.core.http import upstream_fetches
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.pending_bodies import PendingBodies
from trafficmock.core.http.response_reports import ResponseReports
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Agent, Client
from trafficmock.core.websocket.websocket_routing import WebSocketRouting
from trafficmock.texts.wording import Wording, cut
from trafficmock.wire import outbound
from trafficmock.wire.codec import InvalidMessageError
from trafficmock.wire.features import CHAIN, STRICT
from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads.serialized_response import SerializedError
from trafficmock.wire.shrink import MAX_TEXT


@define
class InvalidMessages:
    """Handles invalid messages, so that they affect only the requests of their sender."""

    state: SharedState
    decisions: Decisions
    sockets: WebSocketRouting
    reports: ResponseReports
    bodies: PendingBodies

    # Messages without a valid shape

    def invalid(self, client: Client, error: InvalidMessageError, out: EffectList) -> None:
        """Send the error to the sender, and settle the request or WebSocket of the message."""
        text = str(error)
        out.note("warn", f"{client.client_id} sent an invalid message: {text}")
        if isinstance(client, Agent):
            self._settle_for_agent(client, error, out)
            out.send(client.id, outbound.ProxyError(error.code, text))
            return
        test_id = self._test_concerned(client, error)
        if error.type == "handler:result":
            pending = self.state.pending.get(error.ids.get("requestId", ""))
            if pending is not None and pending.test and pending.test.worker is client:
                self.decisions.fail(pending, "handler_failed", text, out)
        of_route = error.type == "route:register" and CHAIN in client.features
        route_id = error.ids.get("routeId") if of_route else None
        refusal = outbound.ProxyError(
            error.code, text, test_id or UNSET, route_id=route_id or UNSET
        )
        out.send(client.id, refusal)

    def _test_concerned(self, client: Client, error: InvalidMessageError) -> str | None:
        test_id = error.ids.get("testId", "")
        pending = self.state.pending.get(error.ids.get("requestId", ""))
        socket = self.state.sockets.get(error.ids.get("socketId", ""))
        for subject in (pending, socket):
            if subject is not None and subject.test and subject.test.worker is client:
                return subject.test.id
        return test_id or None

    def _settle_for_agent(self, agent: Agent, error: InvalidMessageError, out: EffectList) -> None:
        request_id, text = error.ids.get("requestId", ""), str(error)
        if error.type == "request:start" and request_id and request_id not in agent.pending:
            refusal = outbound.DecisionError(request_id, "internal", text)
            out.send(agent.id, refusal)
        elif error.type == "request:observe" and request_id and STRICT in agent.features:
            # The agent may wait for a decision about the hop; otherwise it ignores this message.
            out.send(agent.id, outbound.DecisionError(request_id, "internal", text))
        elif error.type == "request:body":
            self.bodies.unreadable(agent, request_id, text, out)
        elif error.type == "request:response" and request_id in agent.awaited:
            failure = SerializedError("Error", text)
            self.reports.failed(agent, agent.awaited[request_id], failure, out)
        elif error.type == "fetch:result":
            fetch_id = error.ids.get("fetchId", "")
            failure = SerializedError("Error", text)
            upstream_fetches.fail(agent, request_id, fetch_id, failure, out)
        elif error.type == "ws:connection" and error.ids.get("socketId"):
            socket_id = error.ids["socketId"]
            if socket_id not in agent.sockets:
                refusal_ws = outbound.SocketError(socket_id, "internal", text)
                out.send(agent.id, refusal_ws)

    # Messages that cannot be sent

    def undelivered(self, message: Message, problem: str, out: EffectList) -> None:
        """Settle the request or WebSocket of a message that is too large to be sent.

        A message without a decision is dropped: a claim then times out.

        :param problem: the problem of the message, as the predicate of a sentence.
        """
        match message:
            case outbound.RequestMatched() | outbound.HandlerRun():
                pending = self.state.pending.get(message.request_id)
                if pending is not None:
                    text = _sentence(pending.subject, problem)
                    self.decisions.fail_owner(pending, "internal", text, out)
            case outbound.SocketMatched():
                socket = self.state.sockets.get(message.socket_id)
                if socket is not None:
                    self.sockets.fail(socket, "internal", _sentence(socket.subject, problem), out)
            case outbound.DecisionFetch():
                self._fetch_undelivered(message, problem, out)
            case outbound.DecisionContinue():
                self._continue_undelivered(message, problem, out)
            case _:
                out.note("warn", f"Dropped: {type(message).__name__} {problem}")

    def _fetch_undelivered(
        self, message: outbound.DecisionFetch, problem: str, out: EffectList
    ) -> None:
        request_id, fetch_id = message.request_id, message.fetch_id
        pending = self.state.pending.get(request_id)
        if pending is not None:
            failure = SerializedError("Error", _sentence("The fetch", problem))
            upstream_fetches.fail(pending.agent, request_id, fetch_id, failure, out)

    def _continue_undelivered(
        self, message: outbound.DecisionContinue, problem: str, out: EffectList
    ) -> None:
        """Fail the request in the application, and the report about its response."""
        request_id, text = message.request_id, _sentence("The decision", problem)
        agent = self.state.awaited.holders.get(request_id)
        if agent is not None:
            error = SerializedError("Error", text)
            self.reports.failed(agent, agent.awaited[request_id], error, out)
            out.send(agent.id, outbound.DecisionError(request_id, "internal", text))


def _sentence(subject: str, problem: str) -> Wording:
    return Wording(cut(subject, MAX_TEXT), f" {problem}")
