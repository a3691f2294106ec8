"""The leases of agents, and the answers to workers that wait until agents know of a change."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable

from attrs import define, field

from trafficmock.core.deadlines import Deadline
from trafficmock.core.effects import EffectList

LEASE_SECONDS = 1.0
"""Seconds for which an agent may let requests pass after it *sent* a ``request:start`` that was
answered. The coordinator counts from the time at which it *handled* the message, which is later, so
that a lease never ends after the time that the coordinator assumes."""

REPORT_SECONDS = 1.0
"""Seconds after the end of its lease in which an agent reports the requests that it let pass."""


@define(eq=False)
class LocalAgent:
    """An agent with the feature ``local``.

    :param may_until: the end of the agent's lease at the latest, in monotonic seconds.
    :param acknowledged: the number of the latest message that the agent has acknowledged.
    :param passed: the number of requests that the agent let pass without asking.
    :param asked: the number of requests that the agent asked about.
    """

    id: str
    may_until: float = 0.0
    acknowledged: int = -1
    passed: int = 0
    asked: int = 0

    def asks(self, now: float, unreported: int) -> None:
        """Handle a ``request:start``, whose answer renews the lease.

        :param now: monotonic seconds.
        :param unreported: the number of requests that the agent let pass without a report.
        """
        self.may_until = now + LEASE_SECONDS
        self.asked += 1
        self.passed += unreported


@define(eq=False)
class WaitingAnswer:
    """An answer to a worker that waits until agents have acknowledged a message.

    :param worker_id: the connection of the worker.
    :param n: the number of the message.
    :param until: for each agent without an acknowledgement, the end of the wait for it, in
        monotonic seconds: then its lease is over.
    :param release: sends the answer.
    :param overdue: when it is sent at the latest.
    """

    worker_id: str
    n: int
    until: dict[str, float]
    release: Callable[[EffectList], None]
    overdue: Deadline | None = None


@define
class WaitingAnswers:
    """The waiting answers, in the order of the messages that they wait for."""

    waiting: list[WaitingAnswer] = field(factory=list)

    def add(self, answer: WaitingAnswer) -> None:
        """Add an answer, after those that wait for the same message."""
        insort(self.waiting, answer, key=_number)

    def acknowledged(self, agent: LocalAgent, n: int) -> list[WaitingAnswer]:
        """Handle an acknowledgement, and return the answers that may be sent now.

        Only the answers after messages since the agent's last acknowledgement are read: older ones
        do not wait for the agent.

        :param n: the number of the latest message that the agent has acknowledged.
        """
        since, agent.acknowledged = agent.acknowledged, n
        begin = bisect_right(self.waiting, since, key=_number)
        end = bisect_right(self.waiting, n, begin, key=_number)
        return self._without(agent.id, begin, end)

    def forget(self, agent: LocalAgent) -> list[WaitingAnswer]:
        """Stop waiting for an agent, and return the answers that may be sent now."""
        return self._without(agent.id, 0, len(self.waiting))

    def worker_left(self, worker_id: str) -> None:
        """Drop the answers to a worker that has disconnected."""
        self.waiting = [answer for answer in self.waiting if answer.worker_id != worker_id]

    def overdue(self, now: float) -> list[WaitingAnswer]:
        """Return the answers that may be sent because the waits for all their agents are over.

        :param now: monotonic seconds.
        """
        for answer in self.waiting:
            answer.until = {agent_id: at for agent_id, at in answer.until.items() if at > now}
        return self._ended(0, len(self.waiting))

    def _without(self, agent_id: str, begin: int, end: int) -> list[WaitingAnswer]:
        for answer in self.waiting[begin:end]:
            answer.until.pop(agent_id, None)
        return self._ended(begin, end)

    def _ended(self, begin: int, end: int) -> list[WaitingAnswer]:
        looked_at = self.waiting[begin:end]
        ended = [answer for answer in looked_at if not answer.until]
        if ended:
            self.waiting[begin:end] = [answer for answer in looked_at if answer.until]
        return ended


def _number(answer: WaitingAnswer) -> int:
    return answer.n
