"""Names libraries that an agent cannot change: their jobs would have another test's context.

An agent tells of each by ``agent:unhooked``: a copy in a bundle whose text it does not know, for
example. It may concern every test that the application works for, so each worker is warned once,
in the first of its tests that runs then, or that it begins later.
"""

from __future__ import annotations

from attrs import define

from trafficmock.core.effects import EffectList
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.core.state.registered import RegisteredTest
from trafficmock.texts.message_text import printable
from trafficmock.wire.features import WARNINGS
from trafficmock.wire.local_reports import LibraryUnhooked
from trafficmock.wire.outbound import UNHOOKED_LIBRARY, TestWarning

MOST_UNHOOKED = 20
"""The most libraries that are kept for one agent."""

_REMEDY = (
    "trafficmock does not know this copy, so requests of the process have no context while it "
    "knows those of several tests. Keep it out of the bundle (external in esbuild and webpack)."
)


@define
class UnhookedLibraries:
    """Keeps what agents tell, and warns workers of it."""

    state: SharedState

    def found(self, agent: Agent, message: LibraryUnhooked, out: EffectList) -> None:
        """Handle ``agent:unhooked``."""
        if message in agent.unhooked or len(agent.unhooked) >= MOST_UNHOOKED:
            return
        agent.unhooked.append(message)
        for worker in self.state.peers.values():
            running = isinstance(worker, Worker) and _first(worker)
            if running:
                _warn(running, agent, message, out)

    def began(self, test: RegisteredTest, out: EffectList) -> None:
        """Warn a test that begins of what its worker was not warned of."""
        if test.shared:
            return
        for agent in self.state.peers.values():
            if isinstance(agent, Agent):
                for message in agent.unhooked:
                    _warn(test, agent, message, out)


def _first(worker: Worker) -> RegisteredTest | None:
    return next((test for test in worker.tests.values() if not test.shared), None)


def _warn(test: RegisteredTest, agent: Agent, message: LibraryUnhooked, out: EffectList) -> None:
    told, key = test.worker.unhooked_told, (agent.client_id, message.library, message.file)
    if WARNINGS not in test.worker.features or key in told or len(told) >= MOST_UNHOOKED:
        return
    told.add(key)
    where = f'{message.library} in {message.file} of the application "{agent.client_id}"'
    text = f"{printable(where)} cannot be changed. {_REMEDY}"
    out.send(test.worker.id, TestWarning(test.id, UNHOOKED_LIBRARY, text))
