"""Results remembered by text that comes from outside, within a bound of bytes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_KEY = 256
"""Characters or bytes of the longest text that is remembered; usual ones are shorter."""


def cached_by_text(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function remember its results for short texts.

    An entry of ``functools.lru_cache`` keeps its key, and a client may send a thousand keys
    of 60 KB each.

    :param maxsize: results to remember; those used last stay.
    :returns: a decorator for a function whose last positional argument is the text. The
        decorated one has the ``cache_info`` of ``functools.lru_cache``.
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
