"""Memory and files of the process: collector, allocator, limit of open files."""

import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from typing import Any

from twisted.internet.selectreactor import SelectReactor
from twisted.internet.task import Clock
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.process.collector import YOUNG_OBJECTS, adapt_collector
from trafficmock.server.process.malloc import tune_allocator
from trafficmock.server.process.open_files import OTHERS, SELECT_FILES, limit_connections


class NotRunning:
    """A reactor that has not been started."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], Any]] = []

    def callWhenRunning(self, call: Callable[[], Any]) -> None:
        self.calls.append(call)


class CollectorTests(SynchronousTestCase):
    """Objects of the start are not looked at again, and others more rarely."""

    def test_when_running(self) -> None:
        """What exists when the reactor starts is spared; what is made later is not."""
        gc.unfreeze()  # another test of this process may have built the service
        self.addCleanup(gc.unfreeze)
        self.addCleanup(gc.set_threshold, *gc.get_threshold())
        reactor: Any = NotRunning()
        adapt_collector(reactor)
        self.assertEqual(gc.get_freeze_count(), 0)
        early: list[object] = [[]]
        (call,) = reactor.calls
        call()
        late: list[object] = [[]]
        seen = {id(each) for each in gc.get_objects()}
        self.assertEqual((id(early) in seen, id(late) in seen), (False, True))
        self.assertEqual(gc.get_threshold()[0], YOUNG_OBJECTS)


TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
LARGEST_MMAP_THRESHOLD = 32 * 2**20


class Library:
    """A C library with, perhaps, a ``mallopt``."""

    def __init__(self, *, answer: int) -> None:
        self.told: list[tuple[int, int]] = []
        self.answer = answer

    def mallopt(self, parameter: int, value: int) -> int:
        self.told.append((parameter, value))
        return self.answer


class TuneTests(SynchronousTestCase):
    """Thresholds are fixed, so that they do not follow the sizes the allocator sees."""

    def tuned(self, platform: str, library: Any) -> bool:
        self.patch(sys, "platform", platform)
        self.patch(ctypes, "CDLL", lambda _: library)
        return tune_allocator()

    def test_told(self) -> None:
        """The C library is told when to map and when to trim, with values it takes (mallopt(3))."""
        library = Library(answer=1)
        self.assertTrue(self.tuned("linux", library))
        told = dict(library.told)
        self.assertEqual(told.keys(), {TRIM_THRESHOLD, MMAP_THRESHOLD})
        self.assertLessEqual(told[MMAP_THRESHOLD], LARGEST_MMAP_THRESHOLD)

    def test_refused(self) -> None:
        """A refusal is told."""
        self.assertFalse(self.tuned("linux", Library(answer=0)))

    def test_elsewhere(self) -> None:
        """Other systems and other C libraries are left alone."""
        self.assertFalse(self.tuned("darwin", Library(answer=1)))
        self.assertFalse(self.tuned("linux", object()))


class LimitTests(SynchronousTestCase):
    """Only the soft limit is moved, and only up."""

    def setUp(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.hard = hard
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))

    def assert_soft(self, expected: int) -> None:
        self.assertEqual(resource.getrlimit(resource.RLIMIT_NOFILE), (expected, self.hard))

    def test_raised(self) -> None:
        """There is room for the connections and some other files."""
        self.assertEqual(limit_connections(300, Clock()), 300)
        self.assert_soft(364)

    def test_enough(self) -> None:
        """A limit that is high enough stays."""
        self.assertEqual(limit_connections(100, Clock()), 100)
        self.assert_soft(256)

    def test_select(self) -> None:
        """The reactor of ``select`` holds as many as it has room for, with a warning."""
        reactor = SelectReactor.__new__(SelectReactor)
        most = SELECT_FILES - OTHERS
        with capturedLogs() as logged:
            self.assertEqual(limit_connections(most, reactor), most)
            self.assertEqual(logged, [])
            self.assertEqual(limit_connections(most + 1, reactor), most)
            self.assertIn("TRAFFICMOCK_REACTOR", str(logged[0]["log_format"]))
            self.assertEqual(limit_connections(0, reactor), most)
            self.assertEqual(len(logged), 1)
        self.assert_soft(SELECT_FILES)
