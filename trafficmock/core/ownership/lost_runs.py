"""Strict runs whose worker is gone without having ended the run.

The worker, or another one of the run, may connect again. Until then the run stays strict, for
:data:`LOST_SECONDS` at most: that a worker was killed or lost its connection must not let requests
reach the real network.
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
"""How long such a run stays strict."""


@define
class LostRuns:
    """The runs, by the connections that made them strict.

    :ivar until: monotonic seconds.
    """

    strictness: Strictness
    alarm: Alarm
    until: dict[str, float] = field(factory=dict)

    def lost(self, run_id: str, out: EffectList) -> None:
        """Note that the connection of a run is gone."""
        self.strictness.lose_run(run_id, self._wait_for(run_id, out), out)

    def take_over(self, run_id: str, allow: AllowList, out: EffectList) -> None:
        """Let a run be strict that was so at the end of an earlier process."""
        lost_until = self._wait_for(run_id, out)
        self.strictness.add_run(run_id, allow, out, lost_until=lost_until)

    def _wait_for(self, run_id: str, out: EffectList) -> int:
        """Begin to wait for a worker; give the end in epoch ms."""
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
        """Tell when the next one ends; they all last equally long."""
        return next(iter(self.until.values()), None)
