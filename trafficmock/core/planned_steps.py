"""The steps of requests that are taken later, such as decisions after their delay."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from trafficmock.core.deadlines import Deadline, Deadlines
from trafficmock.core.effects import EffectList
from trafficmock.core.state.lifecycle import PendingRequest


@define
class PlannedSteps:
    """The next steps of requests that are taken at a time, one of each request.

    Such a step is a decision after its delay, or the next piece of an answer after its pause. A
    request that is settled meanwhile, as by its application, loses its step.
    """

    deadlines: Deadlines
    _steps: dict[str, Deadline] = field(factory=dict)

    def plan(
        self,
        pending: PendingRequest,
        milliseconds: float,
        step: Callable[[EffectList], None],
        out: EffectList,
    ) -> None:
        """Take a step of a request after a time."""

        def take(out: EffectList) -> None:
            del self._steps[pending.id]
            step(out)

        self.cancel(pending)
        due = out.now.seconds + milliseconds / 1000
        self._steps[pending.id] = self.deadlines.add(due, take, out)

    def has(self, pending: PendingRequest) -> bool:
        """Return whether a step is planned: for a request that is not settled, its decision."""
        return pending.id in self._steps

    def cancel(self, pending: PendingRequest) -> None:
        """Forget the step of a request that is settled."""
        self.deadlines.cancel(self._steps.pop(pending.id, None))
