"""Puts the context of a test on every browser context that it opens with Playwright."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


@contextmanager
def tagged(browser: Any, cookies: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Add cookies to the contexts that a browser opens meanwhile.

    :param browser: of sync or async Playwright.
    :param cookies: as ``BrowserContext.add_cookies`` takes them.
    """
    new_context = browser.new_context

    def opened(*args: Any, **options: Any) -> Any:
        context = new_context(*args, **options)
        context.add_cookies(cookies)
        return context

    async def opened_async(*args: Any, **options: Any) -> Any:
        context = await new_context(*args, **options)
        await context.add_cookies(cookies)
        return context

    is_async = inspect.iscoroutinefunction(new_context)
    browser.new_context = opened_async if is_async else opened
    try:
        yield
    finally:
        # Without it the class's own method is found again.
        del browser.new_context
