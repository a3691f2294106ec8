"""Describes the requests that came instead of those that a test waited for."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import UNSET

from trafficmock.redaction.process_redactor import safe_url
from trafficmock.wire.payloads.similar_requests import Difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trafficmock.testing.session.observation.request_state import RequestState
    from trafficmock.testing.session.observation.waiting import Waiter
    from trafficmock.wire.outbound import ConnectedClient
    from trafficmock.wire.payloads.similar_requests import SimilarRequest
    from trafficmock.wire.waits.wait_messages import WaitOverdue

MOST_SHOWN = 8
_NOTHING = "No request of any application came since the test began."
MOST_AGENTS = 10
_HOW_TO_ATTACH = (
    "Start the application with the environment that trafficmock_env(client_id=...) or "
    "process_proxy().environment(...) gives, or through `trafficmock run -- COMMAND`."
)
_FROM_FIRST_REQUEST = (
    "An application without the Node agent, such as a Python one, is listed from its first "
    "request on."
)
_ANOTHER_PROXY = (
    "If it runs attached to another proxy, give the tests that one's address: "
    "--trafficmock-proxy-url URL in pytest, or TRAFFICMOCK_PROXY_URL in the environment."
)

_REGEX = re.compile(r"^\^|\\[.dDwWsSb/]|\(\?|\.[*+]\)|/\.[*+]|\$$")
"""Parts that are frequent in regular expressions and rare in URLs."""

_TOO_EARLY = "came before the wait began: enter it before the act"
_NOT_ENCODED = "(URLs have letters beyond ASCII percent-encoded, so a glob must have them so.)"


def describe_seen(waiter: Waiter, overdue: WaitOverdue, observed: Sequence[RequestState]) -> str:
    """Return the requests that came, as text for the error of a wait.

    :param overdue: the answer of the proxy.
    :param observed: the requests that this process observed since the test began, oldest first:
        they are listed if the proxy does not know what came.
    """
    lines = []
    if hint := regex_hint(waiter.glob):
        lines.append(hint)
    if overdue.capture != "all":
        lines.append(f"(the proxy's history keeps only: {overdue.capture})")
    if overdue.found.requests:
        if not (waiter.glob or "").isascii():
            lines.append(_NOT_ENCODED)
        lines.append("Seen since the test began, nearest first:")
        rows = [_row(waiter, each) for each in overdue.found.requests]
        more = overdue.found.more
    elif observed:
        lines.append("Seen since the test began, newest first:")
        newest = [*reversed(observed)]
        rows = [f"{each} (client {each.client_id})" for each in newest[:MOST_SHOWN]]
        more = len(newest[MOST_SHOWN:])
    else:
        return "\n".join([*lines, _NOTHING, *connected(overdue.agents)])
    lines += [f"  {each}" for each in rows]
    return "\n".join([*lines, f"  and {more} more"] if more else lines)


def regex_hint(glob: str | None) -> str:
    """Return a hint if a glob looks like a regular expression, else empty text."""
    if glob is None or not _REGEX.search(glob):
        return ""
    return f"{glob!r} is a str, and so a glob: a regular expression is given as re.compile(...)."


def connected(agents: Sequence[ConnectedClient], *, heard: bool = False) -> list[str]:
    """Return the lines about connected applications; without any, how to attach one.

    :param heard: whether requests of an application came.
    """
    if not agents and heard:
        return ["No application is connected to the proxy any more."]
    if not agents:
        missing = f"No application is connected to the proxy. {_HOW_TO_ATTACH}"
        return [missing, _FROM_FIRST_REQUEST, _ANOTHER_PROXY]
    lines = ["Applications that are connected:", *map(_agent, agents[:MOST_AGENTS])]
    if len(agents) > MOST_AGENTS:
        lines.append(f"  and {len(agents) - MOST_AGENTS} more")
    return lines


_WAYS = {"proxy": "the forward proxy", "python": "the Python preload"}
"""How an application is attached, by the ``kind`` of its connection."""


def _agent(agent: ConnectedClient) -> str:
    since = datetime.fromtimestamp(agent.connected_at / 1000).astimezone()
    route_in = _WAYS.get(agent.kind or "", "the Node agent")
    parts = [f"  {agent.client_id}, by {route_in}", f"since {since:%H:%M:%S}"]
    if agent.pid is not UNSET:
        parts.append(f"pid {agent.pid}")
    if agent.command is not UNSET:
        parts.append(agent.command)
    return ", ".join(parts)


def _row(waiter: Waiter, row: SimilarRequest) -> str:
    times = f", {row.count} times" if row.count > 1 else ""
    reasons = _reasons(waiter, row)
    text = f"{row.method} {safe_url(row.url)} (client {row.client_id}{times})"
    return f"{text}: {', '.join(reasons)}" if reasons else text


def _reasons(waiter: Waiter, row: SimilarRequest) -> list[str]:
    """Return why a request did not end a wait."""
    if row.differs:
        return [describe_difference(each) for each in row.differs]
    if row.undecided:
        return [_TOO_EARLY if row.before else "the predicate did not want it"]
    if waiter.kind == "response" and row.status is UNSET and not row.before:
        return [
            "no response yet, or it failed"
            if row.failure is UNSET
            else f"no response ({row.failure})"
        ]
    if row.foreign:
        return [f"made for the test {row.title!r} in {row.path}"]
    return [_TOO_EARLY]


def describe_difference(difference: Difference) -> str:
    """Describe a part in which a request differs from a route or wait, with both values."""
    match difference:
        case Difference("url"):
            return "the pattern does not match"
        case Difference("condition", found):
            return str(found)
        case Difference("query", found, ""):
            return f"query differs ({found!r}: a glob is for the whole URL, queries too)"
        case Difference(part, found, wanted):
            return f"{part} differs ({found!r}, not {wanted!r})"
