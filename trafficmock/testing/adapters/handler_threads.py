"""Threads for the plain handlers of blocking tests."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class HandlerThreads:
    """As many threads as there are handlers at work; idle ones are used again.

    They are daemons: a handler that never returns does not keep the tests from ending.
    """

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle = 0
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None]) -> None:
        """Run something on a thread that has nothing else to do."""
        with self._lock:
            start = self._idle == 0
            if not start:
                self._idle -= 1
        self._work.put(work)
        if start:
            threading.Thread(target=self._loop, name="trafficmock-handler", daemon=True).start()

    def _loop(self) -> None:
        while True:
            work = self._work.get()
            work()
            # Whoever ran has let go of it before it waits: a route must not live on here.
            del work
            with self._lock:
                self._idle += 1
