"""Makes every browser context that a test opens with Playwright send the context of the test."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trafficmock.wire.http_syntax import CONTEXT_COOKIE


def warn_of_other_proxy(cookies: Sequence[object], *, of: str, stacklevel: int) -> None:
    """Warn that another proxy is used in the place of the test's, and what carries the context.

    :param cookies: the cookies that carry the context instead; may be empty.
    :param of: what has the other proxy, for the text.
    :param stacklevel: that of :func:`warnings.warn`, counted from the caller.
    """
    then = (
        "carry the context of the test as a cookie: those without credentials, to other hosts of "
        "the application, do not"
    )
    if not cookies:
        then = (
            "do not carry the context of the test: tell where the application is by --base-url or "
            "the ini value trafficmock_origins"
        )
    warnings.warn(f"{of} has a proxy of its own, so its requests {then}", stacklevel=stacklevel + 1)


@contextmanager
def tagged(
    browser: Any, proxy: dict[str, str] | None, cookies: Sequence[dict[str, Any]]
) -> Iterator[None]:
    """Add the test's proxy or cookies to the browser contexts that are opened during the block.

    The cookie of another test in a ``storage_state`` is removed.

    :param browser: a ``Browser`` of sync or async Playwright.
    :param proxy: the proxy for browser contexts that are opened without one; ``None``: cookies
        only.
    :param cookies: as ``BrowserContext.add_cookies`` takes them. With the proxy only those of
        ``https`` origins are used, whose requests the proxy cannot read.
    """
    new_context = browser.new_context

    def choose(options: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        if options.get("storage_state"):
            options = {**options, "storage_state": _untagged(options["storage_state"])}
        if proxy is not None and not options.get("proxy"):
            secure = [each for each in cookies if each["url"].startswith("https:")]
            return {**options, "proxy": proxy}, secure
        if proxy is not None:
            warn_of_other_proxy(cookies, of="a browser context", stacklevel=3)
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
        # The attribute of the object hides the method of the class.
        del browser.new_context


def _untagged(state: Any) -> Any:
    """Remove the cookies with the contexts of tests from a ``storage_state``.

    :param state: a mapping, or the path of a file.
    """
    if isinstance(state, str | Path):
        try:
            known = json.loads(Path(state).read_text())
        except (OSError, ValueError):
            # Playwright raises the error for such a file.
            return state
    else:
        known = state
    cookies = [each for each in known.get("cookies", ()) if each.get("name") != CONTEXT_COOKIE]
    return {**known, "cookies": cookies}
