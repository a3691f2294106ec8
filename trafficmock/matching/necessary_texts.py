"""The texts that a URL must have to match a route, for the filters of agents.

Agents do not evaluate patterns: an agent asks about every URL that has the texts of some route,
and lets others pass. The texts are the literals
(:mod:`trafficmock.matching.patterns.url_literals`) by which the route index finds its candidates,
so an agent asks about every URL for which the index has a candidate.
"""

from __future__ import annotations

from trafficmock.matching.compiled_matcher import UrlCondition

Texts = tuple[str, ...]
"""The beginning of a URL, texts within it, and its end; a single text is the whole URL."""

IN_EVERY_URL = ("http", "://")
"""A part of one of these is in every URL: a filter with it alone would let nothing pass."""

LONGEST = 1024
"""The most characters of a text; a longer one is cut."""


def necessary_texts(condition: UrlCondition) -> tuple[Texts, ...] | None:
    """Return the texts of the URLs that satisfy a condition.

    :returns: alternatives: each URL has all texts of one of them. Empty if no URL satisfies the
        condition; ``None`` if there is no text that all such URLs have.
    """
    if condition.impossible:
        return ()
    found = tuple(_bounded(variant.fixed) for variant in condition.literals.variants)
    return found if all(map(_tells, found)) else None


def may_begin(condition: UrlCondition, base: str) -> bool:
    """Return whether a URL with a beginning may satisfy a condition; true in doubt.

    :param base: scheme, host and port, up to the first slash of the path.
    """
    if condition.impossible:
        return False
    for variant in condition.literals.variants:
        first = variant.fixed[0]
        if first.startswith(base) or (len(variant.fixed) > 1 and base.startswith(first)):
            return True
    return not condition.literals.variants


def _tells(texts: Texts) -> bool:
    """Return whether there are URLs without one of the texts."""
    return len(texts) == 1 or any(all(text not in each for each in IN_EVERY_URL) for text in texts)


def _bounded(fixed: Texts) -> Texts:
    """Cut texts to :data:`LONGEST`, and leave out empty ones in the middle."""
    if len(fixed) == 1:
        return fixed if len(fixed[0]) <= LONGEST else (fixed[0][:LONGEST], "")
    first, *middle, last = fixed
    return (first[:LONGEST], *(text[:LONGEST] for text in middle if text), last[-LONGEST:])
