"""The allocator's thresholds."""

import ctypes
import sys
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.process.malloc import tune_allocator

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
