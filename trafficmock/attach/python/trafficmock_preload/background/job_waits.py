"""Notes which work begins to wait for a job that it has started (:mod:`.job_chains`)."""

from __future__ import annotations

import sys
from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts


def change_waits(owner: Any, names: Iterable[str], contexts: TestContexts) -> None:
    """Note who begins to wait in methods of a future, a thread or the like.

    :param owner: their class.
    """

    def change(name: str) -> None:
        original = getattr(owner, name)

        @wraps(original)
        def waits(self: Any, *args: Any, **kwargs: Any) -> Any:
            work = contexts.waiting()
            if work is not None:
                work.wait_for(self, sys._getframe(1))
            return original(self, *args, **kwargs)

        setattr(owner, name, waits)

    for each in names:
        change(each)


def change_waits_for_several(module: ModuleType, contexts: TestContexts) -> None:
    """Note who begins to wait in ``concurrent.futures.wait`` and ``as_completed``."""

    def change(name: str) -> None:
        original = module.__dict__[name]

        @wraps(original)
        def waits(fs: Any, *args: Any, **kwargs: Any) -> Any:
            work = contexts.waiting()
            if work is not None:
                fs = [*fs]
                for each in fs:
                    work.wait_for(each)
            return original(fs, *args, **kwargs)

        module.__dict__[name] = waits

    change("wait")
    change("as_completed")


def change_ends(pool: Any, contexts: TestContexts) -> None:
    """Note who begins to wait for the end of a pool in ``shutdown``."""
    original = pool.shutdown

    @wraps(original)
    def shutdown(self: Any, wait: bool = True, **kwargs: Any) -> None:
        work = contexts.waiting()
        if work is not None and wait:
            work.wait_for_pool(self)
        original(self, wait, **kwargs)

    pool.shutdown = shutdown
