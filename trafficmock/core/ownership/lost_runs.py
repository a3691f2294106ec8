"""Strict runs whose worker is gone: they stay strict for a while.

A worker that disconnected without a close frame, or another one of its run, may connect again.
Until then the run stays strict, for :data:`LOST_SECONDS` at most, so that no request reaches the
real network because a worker was killed or lost its connection.

After a worker that ended normally, the run stays strict until no request was judged for a while
(``--strict-quiet-ms``): an application may still send what the last test caused. The first test of
the next run ends that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList, Moment
    from trafficmock.core.ownership.strictness import Strictness
    from trafficmock.core.timers import Alarm

LOST_SECONDS = 30.0
"""Seconds for which a run stays strict whose worker was lost."""


@define
class LostRuns:
    """The runs whose worker is gone.

    :param quiet: how long no request must come in seconds, until a run ends whose worker ended
        normally; 0 for at once.
    :ivar until: the end of each run in monotonic seconds, by the connection that began it.
    :ivar ended: the runs whose worker ended normally.
    """

    strictness: Strictness
    alarm: Alarm
    quiet: float
    until: dict[str, float] = field(factory=dict)
    ended: set[str] = field(factory=set)

    def lost(self, run_id: str, out: EffectList) -> None:
        """Handle that the connection of a run was lost."""
        self._wait_for(run_id, LOST_SECONDS, out)

    def end(self, run_id: str, out: EffectList) -> None:
        """Handle that the worker of a run ended normally."""
        self.ended.add(run_id)
        self._wait_for(run_id, self.quiet, out)

    def test_registered(self) -> None:
        """Forget the runs that ended normally, because another one has begun."""
        for run_id in list(self.ended):
            self._forget(run_id)

    def _wait_for(self, run_id: str, seconds: float, out: EffectList) -> None:
        """Begin to wait for a worker."""
        self.until[run_id] = until = out.now.seconds + seconds
        self.strictness.lost[run_id] = out.now.epoch_ms + round(seconds * 1000)
        self.alarm.need(until, out)

    def forget(self, now: Moment) -> None:
        """End the runs whose time is over, and wait on for an application that is not quiet."""
        left = self.strictness.judged_at + self.quiet - now.seconds
        for run_id in [each for each, until in self.until.items() if until <= now.seconds]:
            if run_id in self.ended and left > 0:
                self.until[run_id] = now.seconds + left
                self.strictness.lost[run_id] = now.epoch_ms + round(left * 1000)
            else:
                self._forget(run_id)

    def _forget(self, run_id: str) -> None:
        del self.until[run_id]
        self.ended.discard(run_id)
        del self.strictness.runs[run_id], self.strictness.lost[run_id]

    def next_deadline(self) -> float | None:
        """Return the end of the next run in monotonic seconds."""
        return min(self.until.values(), default=None)
