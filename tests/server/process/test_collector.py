"""What the garbage collector is spared."""

import gc
from collections.abc import Callable
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.process.collector import spare_start_up


class NotRunning:
    """A reactor that has not been started."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], Any]] = []

    def callWhenRunning(self, call: Callable[[], Any]) -> None:
        self.calls.append(call)


class SpareTests(SynchronousTestCase):
    """Objects of the start are not looked at again."""

    def test_when_running(self) -> None:
        """What exists when the reactor starts is spared; what is made later is not."""
        gc.unfreeze()  # another test of this process may have built the service
        self.addCleanup(gc.unfreeze)
        reactor: Any = NotRunning()
        spare_start_up(reactor)
        self.assertEqual(gc.get_freeze_count(), 0)
        early: list[object] = [[]]
        (call,) = reactor.calls
        call()
        late: list[object] = [[]]
        seen = {id(each) for each in gc.get_objects()}
        self.assertEqual((id(early) in seen, id(late) in seen), (False, True))
