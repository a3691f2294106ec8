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


def describe_seen(waiter: Waiter, overdue: WaitOverdue, observed: Sequence[RequestState]) -> str:
    """Return the requests that came, as text for the error of a wait.

    :param overdue: the answer of the proxy.
    :param observed: the requests that this process observed since the test began, oldest first:
        they are listed if the proxy does not know what came.
    """
    lines = [hint] if (hint := regex_hint(waiter.glob)) else []
    if overdue.found.requests or not observed:
        return "\n".join([*lines, overdue.text])
    if overdue.capture != "all":
        lines.append(f"(the proxy's history keeps only: {overdue.capture})")
    lines.append("Seen since the test began, newest first:")
    newest = [*reversed(observed)]
    lines += [f"  {each} (client {each.client_id})" for each in newest[:MOST_SHOWN]]
    more = len(newest) - MOST_SHOWN
    return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)


def regex_hint(glob: str | None) -> str:
    """Return a hint if a glob looks like a regular expression, else empty text."""
    if glob is None or not _REGEX.search(glob):
        return ""
    return f"{glob!r} is a str, and so a glob: a regular expression is given as re.compile(...)."
