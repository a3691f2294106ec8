"""A cache of results by texts of clients, whose memory has a bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K", bound=str | bytes)
R = TypeVar("R")

LONGEST_KEY = 256
"""Length of the longest cached text, in characters or bytes; usual texts are shorter."""


def cached_by_text(maxsize: int) -> Callable[[Callable[[K], R]], Callable[[K], R]]:
    """Make a decorator that caches the results of a function of a text, for short texts.

    ``functools.lru_cache`` has no bound of bytes: it keeps its keys, and a client may send a
    thousand texts of 60 KB each. Texts longer than :data:`LONGEST_KEY` are not cached.

    :param maxsize: the number of results; the oldest one is dropped.
    """

    def decorate(function: Callable[[K], R]) -> Callable[[K], R]:
        class Results(dict[K, R]):
            def __missing__(self, text: K) -> R:
                result = function(text)
                if len(text) <= LONGEST_KEY:
                    if len(self) >= maxsize:
                        del self[next(iter(self))]
                    self[text] = result
                return result

        # A method of dict itself: a result that is there needs no call of a Python function.
        return Results().__getitem__

    return decorate
