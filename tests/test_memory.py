"""The allocator's thresholds."""

import ctypes
import sys
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.memory import tune_allocator


class Library:
    """A C library with, perhaps, a ``mallopt``."""

    def __init__(self, *, answer: int) -> None:
        self.told: list[tuple[int, int]] = []
        self.answer = answer

    def mallopt(self, parameter: int, value: int) -> int:
        self.told.append((parameter, value))
        return self.answer


class TuneTests(SynchronousTestCase):
    """Large buffers go back to the system."""

    def tuned(self, platform: str, library: Any) -> bool:
        self.patch(sys, "platform", platform)
        self.patch(ctypes, "CDLL", lambda _: library)
        return tune_allocator()

    def test_told(self) -> None:
        """The C library is told when to map and when to trim (mallopt(3))."""
        library = Library(answer=1)
        self.assertTrue(self.tuned("linux", library))
        self.assertEqual(library.told, [(-3, 262144), (-1, 16777216)])

    def test_refused(self) -> None:
        """A refusal is told."""
        self.assertFalse(self.tuned("linux", Library(answer=0)))

    def test_elsewhere(self) -> None:
        """Other systems and other C libraries are left alone."""
        self.assertFalse(self.tuned("darwin", Library(answer=1)))
        self.assertFalse(self.tuned("linux", object()))
