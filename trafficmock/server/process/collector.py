"""Excludes the objects of start-up from garbage collection.

Modules, classes and the service's own objects exist until the process ends: some 80,000 objects,
which each full collection would traverse for 40 ms. That was 2 % of the CPU of small requests.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twisted.internet.interfaces import IReactorCore


def spare_start_up(reactor: IReactorCore) -> None:
    """Exclude all objects that exist when the reactor starts (:func:`gc.freeze`)."""
    reactor.callWhenRunning(gc.freeze)
