"""Strict runs whose worker is gone: they stay strict for a while.

A worker that disconnected without a close frame, or another one of its run, may connect again.
Until then the run stays strict, for :data:`LOST_SECONDS` at most, so that no request reaches the
real network because a worker was killed or lost its connection.

After a worker that ended normally, the run stays strict until no request was judged for a while
(``--strict-quiet-ms``): an application may still send what the last test caused. The first test of
the next run ends that.
"""

from __future__ import annotations

from functools import partial

from attrs import define, field

from trafficmock.core.deadlines import Deadline, Deadlines
from trafficmock.core.effects import EffectList
from trafficmock.core.ownership.strictness import Strictness

LOST_SECONDS = 30.0
"""Seconds for which a run stays strict whose worker was lost."""


@define
class LostRuns:
    """The runs whose worker is gone.

    :param quiet: how long no request must come in seconds, until a run ends whose worker ended
        normally; 0 for at once.
    :ivar ended: the runs whose worker ended normally.
    """

    strictness: Strictness
    deadlines: Deadlines
    quiet: float
    _ends: dict[str, Deadline] = field(factory=dict)
    """The end of each run, by the connection that began it."""
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
        self.deadlines.cancel(self._ends.get(run_id))
        over = partial(self._over, run_id)
        self._ends[run_id] = self.deadlines.add(out.now.seconds + seconds, over, out)
        self.strictness.lost[run_id] = out.now.epoch_ms + round(seconds * 1000)

    def _over(self, run_id: str, out: EffectList) -> None:
        """End a run whose time is over, or wait on for an application that is not quiet."""
        left = self.strictness.judged_at + self.quiet - out.now.seconds
        if run_id in self.ended and left > 0:
            self._wait_for(run_id, left, out)
        else:
            self._forget(run_id)

    def _forget(self, run_id: str) -> None:
        self.deadlines.cancel(self._ends.pop(run_id))
        self.ended.discard(run_id)
        del self.strictness.runs[run_id], self.strictness.lost[run_id]
