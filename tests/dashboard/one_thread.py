"""One thread for all that talks to the browser.

Playwright's blocking API keeps an event loop running in the thread that started it, which
asyncio tests on the same thread would stumble over. So it gets a thread of its own, and one
browser serves all tests.
"""

from __future__ import annotations

import atexit
import functools
import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from tests.support.processes.node_parts import chromium

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser

_Task = tuple["Future[Any]", "Callable[[], Any]"]


@functools.cache
def _tasks() -> queue.Queue[_Task]:
    tasks: queue.Queue[_Task] = queue.Queue()
    threading.Thread(target=_work, args=(tasks,), daemon=True).start()
    return tasks


def _work(tasks: queue.Queue[_Task]) -> None:
    while True:
        future, task = tasks.get()
        try:
            future.set_result(task())
        except BaseException as error:  # noqa: BLE001 - whoever asked is told
            future.set_exception(error)


def in_browser_thread(task: Callable[[], Any]) -> Any:
    """Run something in that thread, and wait."""
    future: Future[Any] = Future()
    _tasks().put((future, task))
    return future.result()


@functools.cache
def browser() -> Browser:
    """Give the browser; call it in that thread only. It ends with the process."""
    playwright = sync_playwright().start()
    launched = playwright.chromium.launch(
        executable_path=str(chromium()), args=["--no-sandbox", "--disable-dev-shm-usage"]
    )

    def close() -> None:
        launched.close()
        playwright.stop()

    atexit.register(in_browser_thread, close)
    return launched
