"""Puts the context of a test on every browser context that it opens with Playwright."""

from __future__ import annotations

import inspect
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


_OTHER_PROXY = (
    "a browser context has a proxy of its own, so its requests carry the context of the test as a "
    "cookie: those without credentials, to other hosts of the application, do not"
)


@contextmanager
def tagged(
    browser: Any, proxy: dict[str, str] | None, cookies: Sequence[dict[str, Any]]
) -> Iterator[None]:
    """Give a proxy to the contexts that a browser opens meanwhile, or else cookies.

    :param browser: of sync or async Playwright.
    :param proxy: for contexts that are opened without one; ``None`` for no context.
    :param cookies: as ``BrowserContext.add_cookies`` takes them, for what the proxy does not
        reach: applications on ``https``, and contexts without it.
    """
    new_context = browser.new_context

    def choose(options: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        if proxy is not None and not options.get("proxy"):
            secure = [each for each in cookies if each["url"].startswith("https:")]
            return {**options, "proxy": proxy}, secure
        if proxy is not None:
            warnings.warn(_OTHER_PROXY, stacklevel=3)
        return options, list(cookies)

    def opened(*args: Any, **options: Any) -> Any:
        options, added = choose(options)
        context = new_context(*args, **options)
        if added:
            context.add_cookies(added)
        return context

    async def opened_async(*args: Any, **options: Any) -> Any:
        options, added = choose(options)
        context = await new_context(*args, **options)
        if added:
            await context.add_cookies(added)
        return context

    is_async = inspect.iscoroutinefunction(new_context)
    browser.new_context = opened_async if is_async else opened
    try:
        yield
    finally:
        # Without it the class's own method is found again.
        del browser.new_context
