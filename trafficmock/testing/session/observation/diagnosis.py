"""Describes the requests that came instead of the one that a wait was for, nearest first."""

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
_ANOTHER_PROXY = (
    "If it runs attached to another proxy, give the tests that one's address: "
    "--trafficmock-proxy-url URL in pytest, or TRAFFICMOCK_PROXY_URL in the environment."
)

_REGEX = re.compile(r"^\^|\\[.dDwWsSb/]|\(\?|\.[*+]\)|/\.[*+]|\$$")
"""What a regular expression has, and hardly any URL."""

_NOT_ENCODED = "(URLs have letters beyond ASCII percent-encoded, so a glob must have them so.)"


def describe_seen(
    waiter: Waiter,
    seen: Sequence[RequestState],
    note: str = "",
    agents: Sequence[ConnectedClient] | None = None,
) -> str:
    """List requests for a failed wait.

    :param seen: all since the test began, oldest first.
    :param note: something about the list itself.
    :param agents: the applications that are connected, where the proxy tells.
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
    """Say that a glob looks like a regular expression, where it does; else nothing."""
    if glob is None or not _REGEX.search(glob):
        return ""
    return f"{glob!r} is a str, and so a glob: a regular expression is given as re.compile(...)."


def connected(agents: Sequence[ConnectedClient] | None, *, heard: bool = False) -> list[str]:
    """List the connected applications and, where there is none, how to attach one.

    :param agents: ``None`` when the proxy does not tell.
    :param heard: whether requests of an application came.
    """
    if heard and not agents:
        # It was attached, or there would be none.
        return [] if agents is None else ["No application is connected to the proxy any more."]
    if agents is None:
        return [f"Does the application run attached? {_HOW_TO_ATTACH}"]
    if not agents:
        return [f"No application is connected to the proxy. {_HOW_TO_ATTACH}", _ANOTHER_PROXY]
    lines = ["Applications that are connected:", *map(_agent, agents[:MOST_AGENTS])]
    if len(agents) > MOST_AGENTS:
        lines.append(f"  and {len(agents) - MOST_AGENTS} more")
    return lines


def _agent(agent: ConnectedClient) -> str:
    since = datetime.fromtimestamp(agent.connected_at / 1000).astimezone()
    route_in = "the forward proxy" if agent.kind == "proxy" else "the Node agent"
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
    """Say why a request was not what a waiter wanted: its URL, its time, or the rest."""
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
    """Name a part that differs, with its value and the one that was wanted."""
    there = getattr(urlsplit(url), _ATTRIBUTES[part])
    wanted = getattr(urlsplit(glob), _ATTRIBUTES[part]) if "://" in glob else None
    if wanted is None and part == "query":
        return f"query differs ({there!r}: a glob is for the whole URL, queries too)"
    return f"{part} differs" + ("" if wanted is None else f" ({there!r}, not {wanted!r})")


def differing(glob: str, url: str) -> list[str]:
    """Name the parts of a URL that a glob does not want, as far as they can be told apart."""
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
    """Tell the query from the path where a glob like ``**/users`` names only an end."""
    path = urlsplit(url)._replace(query="", fragment="").geturl()
    return ["query"] if fnmatchcase(path, glob.replace("[", "[[]")) else ["path"]
