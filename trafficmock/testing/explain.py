"""Says what did come, nearest first, where a waiter saw nothing that it wanted."""

from __future__ import annotations

from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trafficmock.testing.request import RequestState
    from trafficmock.testing.waiters import Waiter

MOST_SHOWN = 8
_NOTHING = "No request of any application came since the test began: does it run attached?"


def what_was_seen(waiter: Waiter, seen: Sequence[RequestState], note: str = "") -> str:
    """List requests for a failed wait.

    :param seen: all since the test began, oldest first.
    :param note: something about the list itself.
    """
    lines = [note] if note else []
    if not seen:
        return "\n".join([*lines, _NOTHING])
    ranked = sorted(seen, key=lambda each: -_nearness(waiter, each))
    lines.append("Seen since the test began, nearest first:")
    lines += [f"  {_line(waiter, each)}" for each in ranked[:MOST_SHOWN]]
    if len(ranked) > MOST_SHOWN:
        lines.append(f"  and {len(ranked) - MOST_SHOWN} more")
    return "\n".join(lines)


def _nearness(waiter: Waiter, request: RequestState) -> float:
    wanted = waiter.glob or waiter.what
    return SequenceMatcher(None, wanted, request.url, autojunk=False).ratio()


def _line(waiter: Waiter, request: RequestState) -> str:
    text = f"{request} (client {request.client_id})"
    reasons = []
    if waiter.glob is not None:
        reasons = [f"{part} differs" for part in differing(waiter.glob, request.url)]
    if not reasons and request.sequence <= waiter.since:
        reasons = ["came before the wait began: enter it before the act"]
    elif not reasons and waiter.kind == "response":
        response = request.existing()
        reasons = [] if response else ["no response yet, or it failed"]
    return f"{text}: {', '.join(reasons)}" if reasons else text


def differing(glob: str, url: str) -> list[str]:
    """Name the parts of a URL that a glob does not want, as far as they can be told apart."""
    if "://" not in glob:
        return [] if fnmatchcase(url, glob.replace("[", "[[]")) else _by_tail(glob, url)
    wanted, there = urlsplit(glob), urlsplit(url)
    names = ("scheme", "netloc", "path", "query")
    words = {"netloc": "host"}
    return [
        words.get(name, name)
        for name in names
        if not fnmatchcase(getattr(there, name), getattr(wanted, name) or _EMPTY[name])
    ]


_EMPTY = {"scheme": "*", "netloc": "*", "path": "[/]", "query": ""}


def _by_tail(glob: str, url: str) -> list[str]:
    """Tell the query from the path where a glob like ``**/users`` names only an end."""
    path = urlsplit(url)._replace(query="", fragment="").geturl()
    return ["query"] if fnmatchcase(path, glob.replace("[", "[[]")) else ["path"]
