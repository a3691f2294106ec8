"""Says what may be wrong with a glob that nothing met."""

from __future__ import annotations

import re

_REGEX = re.compile(r"^\^|\\[.dDwWsSb/]|\(\?|\.[*+]\)|/\.[*+]|\$$")
"""Parts that are frequent in regular expressions and rare in URLs."""

_HOST_FIRST = re.compile(
    r"(?:(?:[\w*-]+\.)+(?!(?:html?|json|js|css|php|xml|txt|png|svg)\b)[a-z]{2,}|localhost)(?::\d+)?(?:/|$)",
    re.IGNORECASE,
)
"""A host, or a host with a port, at the beginning of a glob. A name of a file is none."""


def hints(glob: str | None, base_url: str | None) -> list[str]:
    """Return what may be wrong with a glob, as :func:`regex_hint` and :func:`scheme_hint` do."""
    return [hint for hint in (regex_hint(glob), scheme_hint(glob, base_url)) if hint]


def scheme_hint(glob: str | None, base_url: str | None) -> str:
    """Return a hint if a glob begins with a host instead of a scheme, else empty text."""
    if glob is None or not _HOST_FIRST.match(glob):
        return ""
    of = f" of the base URL {base_url}" if base_url else ", and there is no base URL"
    return f"{glob!r} has no scheme, so it is a path{of}: for a host, write 'https://{glob}'."


def regex_hint(glob: str | None) -> str:
    """Return a hint if a glob looks like a regular expression, else empty text."""
    if glob is None or not _REGEX.search(glob):
        return ""
    return f"{glob!r} is a str, and so a glob: a regular expression is given as re.compile(...)."
