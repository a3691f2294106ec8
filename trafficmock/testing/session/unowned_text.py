"""The text about requests without a test that strict mode refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trafficmock.texts.times import time_of_day
from trafficmock.wire.payloads.refused_request import UnmatchedRequest

UNOWNED = "requests without a test, refused by strict mode"
FRAMEWORKS = "what frameworks sent for themselves, refused by strict mode"
_WHAT_TO_DO = (
    "They carry no context, or that of a test that had ended: the application sent them by itself "
    "(at its start, by a timer, after a test), or it lost the context. Give them a route that all "
    "tests share, or allow their hosts; the page `Whose request is it?` of the documentation says "
    "how contexts are lost."
)


def unowned_lines(requests: Iterable[UnmatchedRequest], dropped: int) -> Iterator[str]:
    """Yield the requests with their counts, and advice.

    :param dropped: the number of refused requests that are not in ``requests``.
    """
    yield from request_lines(requests)
    if dropped:
        yield f"and {dropped} more, of which no list is kept"
    yield _WHAT_TO_DO


def request_lines(requests: Iterable[UnmatchedRequest]) -> Iterator[str]:
    """Yield each request with who sent it and when, and below it why it was refused."""
    for each in requests:
        sender = each.sender or f"client {each.client_id}"
        times = f" ({each.count} times)" if each.count > 1 else ""
        yield f"{each.method} {each.url}, {sender}{_when(each)}{times}"
        yield f"  {each.message}"


def _when(each: UnmatchedRequest) -> str:
    if not each.at:
        return ""
    first, last = map(time_of_day, (each.at, each.last_at))
    return f", at {first} UTC" if first == last else f", from {first} to {last} UTC"
