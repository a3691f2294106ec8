"""Strict runs whose worker was lost: it disconnected without a close frame.

The worker, or another one of the run, may connect again. Until then the run stays strict, for
:data:`LOST_SECONDS` at most, so that no request reaches the real network because a worker was
killed or lost its connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.ownership.strictness import Strictness
    from trafficmock.core.timers import Alarm
    from trafficmock.matching.allow_list import AllowList

LOST_SECONDS = 30.0
"""Seconds for which such a run stays strict."""


@define
class LostRuns:
    """The lost runs.

    :ivar until: the end of each run in monotonic seconds, by the connection that began it.
    """

    strictness: Strictness
    alarm: Alarm
    until: dict[str, float] = field(factory=dict)

    def lost(self, run_id: str, out: EffectList) -> None:
        """Handle that the connection of a run was lost."""
        self.strictness.lose_run(run_id, self._wait_for(run_id, out), out)

    def take_over(self, run_id: str, allow: AllowList, out: EffectList) -> None:
        """Add a run that was strict at the end of an earlier process."""
        lost_until = self._wait_for(run_id, out)
        self.strictness.add_run(run_id, allow, out, lost_until=lost_until)

    def _wait_for(self, run_id: str, out: EffectList) -> int:
        """Begin to wait for a worker.

        :returns: the end of the wait in epoch ms.
        """
        self.until[run_id] = until = out.now.seconds + LOST_SECONDS
        self.alarm.need(until, out)
        return out.now.epoch_ms + round(LOST_SECONDS * 1000)

    def forget(self, out: EffectList) -> None:
        """End the runs for which no worker connected again in time."""
        now = out.now.seconds
        for run_id in [each for each, until in self.until.items() if until <= now]:
            del self.until[run_id]
            self.strictness.end_run(run_id, out)

    def next_deadline(self) -> float | None:
        """Return the end of the next run in monotonic seconds; all waits have the same duration."""
        return next(iter(self.until.values()), None)
