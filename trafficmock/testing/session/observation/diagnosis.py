"""Describes what came instead of what a test waited for, in the proxy's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trafficmock.testing.session.observation.request_state import RequestState
    from trafficmock.testing.session.observation.waiting import Waiter
    from trafficmock.wire.waits.wait_messages import WaitOverdue

MOST_SHOWN = 8

_REGEX = re.compile(r"^\^|\\[.dDwWsSb/]|\(\?|\.[*+]\)|/\.[*+]|\$$")
"""Parts that are frequent in regular expressions and rare in URLs."""

_HOST_FIRST = re.compile(
    r"(?:(?:[\w*-]+\.)+(?!(?:html?|json|js|css|php|xml|txt|png|svg)\b)[a-z]{2,}|localhost)(?::\d+)?(?:/|$)",
    re.IGNORECASE,
)
"""A host, or a host with a port, at the beginning of a glob. A name of a file is none."""


def describe_seen(
    waiter: Waiter,
    overdue: WaitOverdue,
    observed: Sequence[RequestState],
    base_url: str | None = None,
) -> str:
    """Return the requests that came, as text for the error of a wait.

    :param overdue: the answer of the proxy.
    :param observed: the requests that this process observed since the test began, oldest first:
        they are listed if the proxy does not know what came.
    :param base_url: the URL that relative globs are resolved against.
    """
    hints = regex_hint(waiter.glob), scheme_hint(waiter.glob, base_url)
    lines = [hint for hint in hints if hint]
    if overdue.found.requests or not observed:
        return "\n".join([*lines, overdue.text])
    if overdue.capture != "all":
        lines.append(f"(the proxy's history keeps only: {overdue.capture})")
    lines.append("Seen since the test began, newest first:")
    newest = [*reversed(observed)]
    lines += [f"  {each} (client {each.client_id})" for each in newest[:MOST_SHOWN]]
    more = len(newest) - MOST_SHOWN
    return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)


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
