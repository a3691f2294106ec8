"""Strict runs whose worker is gone: they stay strict for a while.

A worker that disconnected without a close frame, or another one of its run, may connect again.
Until then the run stays strict, for :data:`LOST_SECONDS` at most, so that no request reaches the
real network because a worker was killed or lost its connection.

After a worker that ended normally, the run stays strict for :data:`ENDED_SECONDS`: an application
may still send what the last test caused. The first test of the next run ends that.
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
"""Seconds for which a run stays strict whose worker was lost."""

ENDED_SECONDS = 5.0
"""Seconds for which a run stays strict whose worker ended normally."""


@define
class LostRuns:
    """The runs whose worker is gone.

    :ivar until: the end of each run in monotonic seconds, by the connection that began it.
    :ivar ended: the runs whose worker ended normally.
    """

    strictness: Strictness
    alarm: Alarm
    until: dict[str, float] = field(factory=dict)
    ended: set[str] = field(factory=set)

    def lost(self, run_id: str, out: EffectList) -> None:
        """Handle that the connection of a run was lost."""
        self.strictness.lose_run(run_id, self._wait_for(run_id, LOST_SECONDS, out), out)

    def end(self, run_id: str, out: EffectList) -> None:
        """Handle that the worker of a run ended normally."""
        self.ended.add(run_id)
        self.strictness.lose_run(run_id, self._wait_for(run_id, ENDED_SECONDS, out), out)

    def test_registered(self, out: EffectList) -> None:
        """Forget the runs that ended normally, because another one has begun."""
        for run_id in list(self.ended):
            self._forget(run_id, out)

    def take_over(self, run_id: str, allow: AllowList, out: EffectList) -> None:
        """Add a run that was strict at the end of an earlier process."""
        lost_until = self._wait_for(run_id, LOST_SECONDS, out)
        self.strictness.add_run(run_id, allow, out, lost_until=lost_until)

    def _wait_for(self, run_id: str, seconds: float, out: EffectList) -> int:
        """Begin to wait for a worker.

        :returns: the end of the wait in epoch ms.
        """
        self.until[run_id] = until = out.now.seconds + seconds
        self.alarm.need(until, out)
        return out.now.epoch_ms + round(seconds * 1000)

    def forget(self, out: EffectList) -> None:
        """End the runs whose time is over."""
        now = out.now.seconds
        for run_id in [each for each, until in self.until.items() if until <= now]:
            self._forget(run_id, out)

    def _forget(self, run_id: str, out: EffectList) -> None:
        del self.until[run_id]
        self.ended.discard(run_id)
        self.strictness.end_run(run_id, out)

    def next_deadline(self) -> float | None:
        """Return the end of the next run in monotonic seconds."""
        return min(self.until.values(), default=None)
