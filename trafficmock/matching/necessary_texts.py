"""The texts that a URL must have so that a route can match it, for agents, which have no patterns.

An agent that decides by itself asks about every URL that has the texts of some route. They are
the literals (:mod:`trafficmock.matching.patterns.url_literals`) by which the index of routes finds
its candidates, so that what the index would find is asked about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trafficmock.matching.compiled_matcher import UrlCondition

Texts = tuple[str, ...]
"""The beginning of a URL, texts within it, and its end; a single text is the whole URL."""

IN_EVERY_URL = ("http", "://")
"""A part of these tells nothing: with it an agent asks about every URL, and nobody is told so."""

LONGEST = 1024
"""Characters of a text; of a longer one the beginning is necessary too."""


def necessary_texts(condition: UrlCondition) -> tuple[Texts, ...] | None:
    """List what a URL has that satisfies a condition: all texts of one of these.

    :returns: nothing where no URL satisfies it; ``None`` where no text is known that each has.
    """
    if condition.impossible:
        return ()
    found = tuple(_bounded(variant.fixed) for variant in condition.literals.variants)
    return found if all(map(_tells, found)) else None


def _tells(texts: Texts) -> bool:
    """Tell whether there are URLs that lack one of the texts."""
    return len(texts) == 1 or any(all(text not in each for each in IN_EVERY_URL) for text in texts)


def _bounded(fixed: Texts) -> Texts:
    """Cut texts that are too long to be handed around, and leave out empty ones in the middle."""
    if len(fixed) == 1:
        return fixed if len(fixed[0]) <= LONGEST else (fixed[0][:LONGEST], "")
    first, *middle, last = fixed
    return (first[:LONGEST], *(text[:LONGEST] for text in middle if text), last[-LONGEST:])
