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

    def noted(fs: Iterable[Any]) -> Iterable[Any]:
        work = contexts.waiting()
        if work is None:
            return fs
        futures = [*fs]
        for each in futures:
            work.wait_for(each)
        return futures

    original_wait, original_completed = module.__dict__["wait"], module.__dict__["as_completed"]

    @wraps(original_wait)
    def wait(fs: Any, *args: Any, **kwargs: Any) -> Any:
        return original_wait(noted(fs), *args, **kwargs)

    # A generator, as the original: nothing is done with its argument before the first future is
    # asked for.
    @wraps(original_completed)
    def as_completed(fs: Any, *args: Any, **kwargs: Any) -> Any:
        yield from original_completed(noted(fs), *args, **kwargs)

    module.__dict__["wait"], module.__dict__["as_completed"] = wait, as_completed


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
