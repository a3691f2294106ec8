"""Lists the requests that came during a wait that timed out, most similar first."""

from __future__ import annotations

import re
from datetime import datetime
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import UNSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trafficmock.testing.session.observation.request_state import RequestState
    from trafficmock.testing.session.observation.waiting import Waiter
    from trafficmock.wire.outbound import ConnectedClient

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

_NOT_ENCODED = "(URLs have letters beyond ASCII percent-encoded, so a glob must have them so.)"


def describe_seen(
    waiter: Waiter,
    seen: Sequence[RequestState],
    note: str = "",
    agents: Sequence[ConnectedClient] | None = None,
) -> str:
    """Return the requests that came, as text for the error of a wait.

    :param seen: all requests since the test began, oldest first.
    :param note: a first line.
    :param agents: the connected applications; ``None`` if the proxy does not report them.
    """
    lines = [note] if note else []
    if hint := regex_hint(waiter.glob):
        lines.append(hint)
    if not seen:
        return "\n".join([*lines, _NOTHING, *connected(agents)])
    ranked = sorted(seen, key=lambda each: -_nearness(waiter, each))
    if not (waiter.glob or "").isascii():
        lines.append(_NOT_ENCODED)
    lines.append("Seen since the test began, nearest first:")
    lines += [f"  {_line(waiter, each)}" for each in ranked[:MOST_SHOWN]]
    if len(ranked) > MOST_SHOWN:
        lines.append(f"  and {len(ranked) - MOST_SHOWN} more")
    return "\n".join(lines)


def regex_hint(glob: str | None) -> str:
    """Return a hint if a glob looks like a regular expression, else empty text."""
    if glob is None or not _REGEX.search(glob):
        return ""
    return f"{glob!r} is a str, and so a glob: a regular expression is given as re.compile(...)."


def connected(agents: Sequence[ConnectedClient] | None, *, heard: bool = False) -> list[str]:
    """Return the lines about connected applications; without any, how to attach one.

    :param agents: ``None`` if the proxy does not report them.
    :param heard: whether requests of an application came.
    """
    if heard and not agents:
        # A request came, so an application was attached.
        return [] if agents is None else ["No application is connected to the proxy any more."]
    if agents is None:
        return [f"Does the application run attached? {_HOW_TO_ATTACH}"]
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


def _nearness(waiter: Waiter, request: RequestState) -> float:
    wanted = waiter.glob or waiter.what
    return SequenceMatcher(None, wanted, request.url, autojunk=False).ratio()


def _line(waiter: Waiter, request: RequestState) -> str:
    reasons = _reasons(waiter, request)
    text = f"{request} (client {request.client_id})"
    return f"{text}: {', '.join(reasons)}" if reasons else text


def _reasons(waiter: Waiter, request: RequestState) -> list[str]:
    """Return why a request did not end a wait: its URL, its time, or the predicate."""
    if waiter.wants is not None and not waiter.wants(request.url):
        glob = waiter.glob or ""
        parts = differing(glob, request.url) if glob else []
        return [_difference(glob, request.url, part) for part in parts] or ["the URL differs"]
    if waiter.is_too_old(request):
        return ["came before the wait began: enter it before the act"]
    if waiter.kind == "response" and not request.existing():
        failure = request.failure
        return [f"no response ({failure})" if failure else "no response yet, or it failed"]
    return [] if waiter.wants is not None else ["the predicate did not want it"]


def _difference(glob: str, url: str, part: str) -> str:
    """Describe a part of the URL that differs, with its value and the expected one."""
    there = getattr(urlsplit(url), _ATTRIBUTES[part])
    wanted = getattr(urlsplit(glob), _ATTRIBUTES[part]) if "://" in glob else None
    if wanted is None and part == "query":
        return f"query differs ({there!r}: a glob is for the whole URL, queries too)"
    return f"{part} differs" + ("" if wanted is None else f" ({there!r}, not {wanted!r})")


def differing(glob: str, url: str) -> list[str]:
    """Return the parts of a URL that a glob does not match, as far as they can be separated.

    :returns: some of ``scheme``, ``host``, ``path`` and ``query``.
    """
    if "://" not in glob:
        return [] if fnmatchcase(url, glob.replace("[", "[[]")) else _by_tail(glob, url)
    wanted, there = urlsplit(glob), urlsplit(url)
    return [
        part
        for part, name in _ATTRIBUTES.items()
        if not fnmatchcase(getattr(there, name), getattr(wanted, name) or _EMPTY[name])
    ]


_ATTRIBUTES = {"scheme": "scheme", "host": "netloc", "path": "path", "query": "query"}
_EMPTY = {"scheme": "*", "netloc": "*", "path": "[/]", "query": ""}


def _by_tail(glob: str, url: str) -> list[str]:
    """Return the part that differs for a glob without a scheme, such as ``**/users``."""
    path = urlsplit(url)._replace(query="", fragment="").geturl()
    return ["query"] if fnmatchcase(path, glob.replace("[", "[[]")) else ["path"]
