"""A cache of results by texts of clients, whose memory has a bound."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_KEY = 256
"""Length of the longest cached text, in characters or bytes; usual texts are shorter."""


def cached_by_text(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a decorator that caches the results of a function for short texts.

    ``functools.lru_cache`` alone has no bound of bytes: it keeps its keys, and a client may send
    a thousand texts of 60 KB each. Texts longer than :data:`LONGEST_KEY` are not cached.

    :param maxsize: the number of results; the least recently used one is dropped.
    :returns: a decorator for a function whose last positional argument is the text. The
        decorated function has the ``cache_info`` of ``functools.lru_cache``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        remembering = functools.lru_cache(maxsize)(function)
        remembered = cast("Callable[P, R]", remembering)

        @functools.wraps(function)
        def call(*args: P.args, **more: P.kwargs) -> R:
            if len(args[-1]) > LONGEST_KEY:  # type: ignore[arg-type] # the text, as documented
                return function(*args, **more)
            return remembered(*args, **more)

        call.cache_info = remembering.cache_info  # type: ignore[attr-defined] # as lru_cache has
        return call

    return decorate
