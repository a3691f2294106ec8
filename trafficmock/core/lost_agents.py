"""Ends what lost agents leave behind: requests, fetches, reports and WebSockets."""

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
    from trafficmock.core.peers import Agent
    from trafficmock.core.timers import Alarm
    from trafficmock.core.websocket.websocket_routing import WebSocketRouting


@define
class LostAgent:
    """An agent that is gone.

    :param unsettled: how many of its requests and WebSockets were ended so far.
    """

    agent: Agent
    unsettled: int = 0


@define
class LostAgents:
    """Answers those who wait for an agent that is gone, over several turns of the reactor.

    Until then it is as if the agent were there and silent: what is sent to it is dropped.

    :param at_once: requests and WebSockets that are ended in one turn.
    """

    at_once: int
    decisions: Decisions
    handlers: HandlerResults
    reports: ResponseReports
    sockets: WebSocketRouting
    alarm: Alarm
    waiting: deque[LostAgent] = field(factory=deque)

    def add(self, agent: Agent, out: EffectList) -> None:
        """End what an agent left, as far as one turn allows."""
        self.waiting.append(LostAgent(agent))
        self.go_on(out)
        if self.waiting:
            self.alarm.need(out.now.seconds, out)

    def go_on(self, out: EffectList) -> None:
        """End the next requests and WebSockets of agents that are gone."""
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
