"""Tells agents when to say where requests without a context come from.

It costs an application some microseconds for each such request, and is read only while tests with
contexts run.
"""

from __future__ import annotations

from attrs import define, field

from trafficmock.core.effects import EffectList
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Agent
from trafficmock.wire.agent_filter import Origins
from trafficmock.wire.features import ORIGINS


@define
class WantedOrigins:
    """Tells the agents with the feature ``origins`` of the first running context, and of the last.

    :ivar is_wanted: what they were told; new ones are told by ``hello:ok``.
    :ivar of_all: the connections that tell it of requests with a context, too.
    """

    state: SharedState
    is_wanted: bool = False
    of_all: set[str] = field(init=False, factory=set)

    def contexts_changed(self, out: EffectList) -> None:
        """Tell the agents, if it has changed whether a test with a context runs."""
        wanted = bool(self.state.contexts.running)
        if wanted == self.is_wanted:
            return
        self.is_wanted = wanted
        self.of_all.clear()
        peers = self.state.peers.values()
        told = [each.id for each in peers if isinstance(each, Agent) and ORIGINS in each.features]
        if told:
            out.send_all(tuple(told), Origins(wanted))

    def mixed_up(self, agent: Agent, out: EffectList) -> None:
        """Let an agent that mixes contexts up say where its further requests come from."""
        if self.is_wanted and ORIGINS in agent.features and agent.id not in self.of_all:
            self.of_all.add(agent.id)
            out.send(agent.id, Origins(wanted=True, of_all=True))
