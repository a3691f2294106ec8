"""How long agents may decide by themselves, and what waits until they know of a change."""

from __future__ import annotations

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

    :param n: of the message.
    :param until: for each agent that has not acted on it, when it is waited for no longer.
    :param release: gives the answer.
    """

    n: int
    until: dict[str, float]
    release: Callable[[EffectList], None]


@define
class Holds:
    """The answers that wait, in order."""

    waiting: list[Hold] = field(factory=list)

    def acted_on(self, agent: LocalAgent) -> list[Hold]:
        """Note how far an agent has come, and give the holds that end with it."""
        return self._without(agent.id, agent.acted_on)

    def forget(self, agent: LocalAgent) -> list[Hold]:
        """Wait for an agent no longer, and give the holds that end with it."""
        return self._without(agent.id, None)

    def overdue(self, now: float) -> list[Hold]:
        """Give the holds that end because no agent is waited for by now."""
        for hold in self.waiting:
            hold.until = {agent_id: at for agent_id, at in hold.until.items() if at > now}
        return self._ended()

    def next_deadline(self) -> float | None:
        """Tell when the next one may end."""
        return min((max(hold.until.values()) for hold in self.waiting), default=None)

    def _without(self, agent_id: str, n: int | None) -> list[Hold]:
        if not self.waiting:
            return []
        for hold in self.waiting:
            if n is None or hold.n <= n:
                hold.until.pop(agent_id, None)
        return self._ended()

    def _ended(self) -> list[Hold]:
        ended = [hold for hold in self.waiting if not hold.until]
        if ended:
            self.waiting = [hold for hold in self.waiting if hold.until]
        return ended
