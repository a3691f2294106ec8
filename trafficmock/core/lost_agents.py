"""Settles the requests, fetches, reports and WebSockets of agents that have disconnected."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core import error_messages
from trafficmock.wire.payloads.serialized_response import SerializedError

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.decisions import Decisions
    from trafficmock.core.http.handler_results import HandlerResults
    from trafficmock.core.http.response_reports import ResponseReports
    from trafficmock.core.http.streamed_replies import StreamedReplies
    from trafficmock.core.state.peers import Agent
    from trafficmock.core.timers import Alarm
    from trafficmock.core.websocket.websocket_routing import WebSocketRouting


@define
class LostAgent:
    """An agent that has disconnected.

    :param unsettled: the number of its requests and WebSockets that have been settled so far.
    """

    agent: Agent
    unsettled: int = 0


@define
class LostAgents:
    """Settles the requests of disconnected agents, over several iterations of the reactor.

    Until then the agent counts as connected and silent: messages to it are dropped.

    :param at_once: the number of requests, fetches, reports and WebSockets in one iteration.
    """

    at_once: int
    decisions: Decisions
    handlers: HandlerResults
    streams: StreamedReplies
    reports: ResponseReports
    sockets: WebSocketRouting
    alarm: Alarm
    waiting: deque[LostAgent] = field(factory=deque)

    def add(self, agent: Agent, out: EffectList) -> None:
        """Settle the requests and WebSockets of a disconnected agent, ``at_once`` of them now."""
        self.streams.agent_lost(agent, out)
        self.waiting.append(LostAgent(agent))
        self.go_on(out)
        if self.waiting:
            self.alarm.need(out.now.seconds, out)

    def go_on(self, out: EffectList) -> None:
        """Settle the next ``at_once`` requests and WebSockets of disconnected agents."""
        left = self.at_once
        while self.waiting and left:
            lost = self.waiting[0]
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
                self.waiting.popleft()
                self._note(lost, out)

    def _note(self, lost: LostAgent, out: EffectList) -> None:
        if lost.unsettled:
            who = f"the application {lost.agent.client_id!r}"
            text = error_messages.left_unsettled(who, "disconnected", lost.unsettled)
            out.note("info", text)
