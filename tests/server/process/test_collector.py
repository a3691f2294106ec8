"""What the garbage collector looks at, and when."""

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.process.collector import THRESHOLDS, set_up_collector


class NotRunning:
    """A reactor that has not been started."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], Any]] = []

    def callWhenRunning(self, call: Callable[..., Any], *args: Any) -> None:
        self.calls.append(partial(call, *args))


class CollectorTests(SynchronousTestCase):
    """Objects of the start are not looked at again, others less often."""

    def test_when_running(self) -> None:
        """What exists when the reactor starts is spared; what is made later is not."""
        self.addCleanup(gc.unfreeze)
        self.addCleanup(gc.set_threshold, *gc.get_threshold())
        reactor: Any = NotRunning()
        set_up_collector(reactor)
        self.assertEqual(gc.get_freeze_count(), 0)
        early: list[object] = [[]]
        for call in reactor.calls:
            call()
        late: list[object] = [[]]
        seen = {id(each) for each in gc.get_objects()}
        self.assertEqual((id(early) in seen, id(late) in seen), (False, True))
        self.assertEqual(gc.get_threshold(), THRESHOLDS)
