"""Settles the requests, fetches, reports and WebSockets of agents that have disconnected."""

from __future__ import annotations

from attrs import define, field

from trafficmock.core import error_messages
from trafficmock.core.answers.streamed_answers import StreamedAnswers
from trafficmock.core.deadlines import Deadline
from trafficmock.core.effects import EffectList
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.handler_results import HandlerResults
from trafficmock.core.http.response_reports import ResponseReports
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Agent, LostAgent
from trafficmock.core.websocket.websocket_routing import WebSocketRouting
from trafficmock.wire.payloads.serialized_response import SerializedError


@define
class LostAgents:
    """Settles the requests of disconnected agents, over several iterations of the reactor.

    Until then the agent counts as connected and silent: messages to it are dropped.

    :param at_once: the number of requests, fetches, reports and WebSockets in one iteration.
    """

    state: SharedState
    decisions: Decisions
    handlers: HandlerResults
    streams: StreamedAnswers
    reports: ResponseReports
    sockets: WebSocketRouting
    at_once: int
    _next: Deadline | None = field(init=False, default=None)

    def add(self, agent: Agent, out: EffectList) -> None:
        """Settle the requests and WebSockets of a disconnected agent, ``at_once`` of them now."""
        self.streams.agent_lost(agent, out)
        self.state.lost_agents.append(LostAgent(agent))
        self.go_on(out)

    def go_on(self, out: EffectList) -> None:
        """Settle the next ``at_once`` requests and WebSockets of disconnected agents."""
        self._settle_some(out)
        deadlines = self.state.deadlines
        deadlines.cancel(self._next)
        if self.state.lost_agents:
            self._next = deadlines.add(out.now.seconds, self.go_on, out)

    def _settle_some(self, out: EffectList) -> None:
        left = self.at_once
        while self.state.lost_agents and left:
            lost = self.state.lost_agents[0]
            agent = lost.agent
            text = error_messages.agent_lost(agent.client_id)
            error = SerializedError("Error", text, code="disconnected")
            pending = self.decisions.agent_lost(agent, text, left, out)
            left -= pending
            left -= self.handlers.agent_lost(agent, error, left, out)
            left -= self.reports.agent_lost(agent, error, left, out)
            sockets = self.sockets.agent_lost(agent, text, left, out)
            left -= sockets
            lost.unsettled += pending + sockets
            if left:
                self.state.lost_agents.popleft()
                self._note(lost, out)

    def _note(self, lost: LostAgent, out: EffectList) -> None:
        if lost.unsettled:
            who = f"the application {lost.agent.client_id!r}"
            text = error_messages.left_unsettled(who, "disconnected", lost.unsettled)
            out.note("info", text)
