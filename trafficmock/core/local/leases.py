"""How long agents may decide by themselves, and what waits until they know of a change."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.core.effects import EffectList

LEASE_SECONDS = 1.0
"""How long an agent may decide by itself after it *sent* a question that was answered. The moment
at which the question was *handled* is later, so what is reckoned from there is never too early."""

REPORT_SECONDS = 1.0
"""How long after its lease an agent may take to report what it decided."""


@define(eq=False)
class LocalAgent:
    """An agent with the feature ``local``.

    :param may_until: monotonic seconds by which it surely has no lease.
    :param acted_on: the number of the newest message that it acted on.
    :param passed: requests that it let pass without asking.
    :param asked: requests that it asked about.
    """

    id: str
    may_until: float = 0.0
    acted_on: int = -1
    passed: int = 0
    asked: int = 0

    def asks(self, now: float, unreported: int) -> None:
        """Note a question, whose answer is a lease.

        :param unreported: requests that it let pass and does not report.
        """
        self.may_until = now + LEASE_SECONDS
        self.asked += 1
        self.passed += unreported


@define(eq=False)
class Hold:
    """An answer that waits until agents have acted on a message, or cannot decide any more.

    :param worker_id: who waits for the answer.
    :param n: of the message.
    :param until: for each agent that has not acted on it, when it is waited for no longer.
    :param release: gives the answer.
    """

    worker_id: str
    n: int
    until: dict[str, float]
    release: Callable[[EffectList], None]


@define
class Holds:
    """The answers that wait, by the messages that they wait for."""

    waiting: list[Hold] = field(factory=list)

    def add(self, hold: Hold) -> None:
        """Let an answer wait, behind those that wait for the same message."""
        insort(self.waiting, hold, key=_number)

    def acted_on(self, agent: LocalAgent, n: int) -> list[Hold]:
        """Note how far an agent has come, and give the holds that end with it.

        Only holds of the messages since its last report are looked at: it is in no older ones.

        :param n: of the newest message that it acted on.
        """
        since, agent.acted_on = agent.acted_on, n
        begin = bisect_right(self.waiting, since, key=_number)
        end = bisect_right(self.waiting, n, begin, key=_number)
        return self._without(agent.id, begin, end)

    def forget(self, agent: LocalAgent) -> list[Hold]:
        """Wait for an agent no longer, and give the holds that end with it."""
        return self._without(agent.id, 0, len(self.waiting))

    def worker_left(self, worker_id: str) -> None:
        """Drop the answers that a worker waited for which is gone."""
        self.waiting = [hold for hold in self.waiting if hold.worker_id != worker_id]

    def overdue(self, now: float) -> list[Hold]:
        """Give the holds that end because no agent is waited for by now."""
        for hold in self.waiting:
            hold.until = {agent_id: at for agent_id, at in hold.until.items() if at > now}
        return self._ended(0, len(self.waiting))

    def next_deadline(self) -> float | None:
        """Tell when the next one may end."""
        return min((max(hold.until.values()) for hold in self.waiting), default=None)

    def _without(self, agent_id: str, begin: int, end: int) -> list[Hold]:
        for hold in self.waiting[begin:end]:
            hold.until.pop(agent_id, None)
        return self._ended(begin, end)

    def _ended(self, begin: int, end: int) -> list[Hold]:
        looked_at = self.waiting[begin:end]
        ended = [hold for hold in looked_at if not hold.until]
        if ended:
            self.waiting[begin:end] = [hold for hold in looked_at if hold.until]
        return ended


def _number(hold: Hold) -> int:
    return hold.n
