"""Puts the context of a test on every browser context that it opens with Playwright."""

from __future__ import annotations

import inspect
import json
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trafficmock.testing.session.traffic_context import COOKIE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


def warn_of_other_proxy(cookies: Sequence[object], *, of: str, stacklevel: int) -> None:
    """Say what a proxy of the user's own means for the context of a test.

    :param cookies: what carries the context in the place of the test's proxy.
    :param of: what has that proxy.
    :param stacklevel: as of :func:`warnings.warn`, from the caller.
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
    """Give a proxy to the contexts that a browser opens meanwhile, or else cookies.

    A cookie of another test in a saved state is left out.

    :param browser: of sync or async Playwright.
    :param proxy: for contexts that are opened without one; ``None`` for no context.
    :param cookies: as ``BrowserContext.add_cookies`` takes them, for what the proxy does not
        reach: applications on ``https``, and contexts without it.
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
        # Without it the class's own method is found again.
        del browser.new_context


def _untagged(state: Any) -> Any:
    """Leave the contexts of tests out of a browser's state.

    :param state: a mapping, or where it was saved.
    """
    if isinstance(state, str | Path):
        try:
            known = json.loads(Path(state).read_text())
        except (OSError, ValueError):
            # Playwright says what is wrong with it.
            return state
    else:
        known = state
    cookies = [each for each in known.get("cookies", ()) if each.get("name") != COOKIE]
    return {**known, "cookies": cookies}
