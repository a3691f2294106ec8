"""Whose requests were: for each way, who owned those that the page of each test led to."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.testing.row_context import ask

NOBODY = "nobody"
SECONDS = 60.0

Owners = dict[str, dict[str, set[str]]]
"""Titles of tests, or :data:`NOBODY`, by way and by whose page led to the request."""


def owners_by_way(proxy_url: str, count: int) -> Owners:
    """Wait for so many requests with ``?way=…&who=…``, and say who owned them.

    :raises AssertionError: if they do not come in time, or are more.
    """
    deadline = time.monotonic() + SECONDS
    entries: list[Any] = []
    while time.monotonic() < deadline and len(entries) < count:
        time.sleep(0.2)
        listed = ask(f"{proxy_url}/api/history?limit=1000")["entries"]
        entries = [each for each in listed if each["action"] != "pending"]
    found: Owners = defaultdict(lambda: defaultdict(set))
    asked: dict[str, int] = defaultdict(int)
    for entry in entries:
        query = parse_qs(urlsplit(entry["request"]["url"]).query)
        (way,), (who,) = query["way"], query["who"]
        is_refused = entry["outcome"].get("code") == "ambiguous_route"
        found[way][who].add(NOBODY if is_refused else entry["title"])
        asked[way] += 1
    assert len(entries) == count, f"{len(entries)} requests instead of {count}: {dict(asked)}"
    return found


def told_by_way(proxy_url: str) -> dict[str, set[str]]:
    """Say what the doctor tells of the requests that the pages of tests led to, by way.

    An empty text stands for a request of which nothing is known.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for entry in ask(f"{proxy_url}/api/history?limit=1000")["entries"]:
        query = parse_qs(urlsplit(entry["request"]["url"]).query)
        if query["who"] != [NOBODY] and not entry.get("title"):
            found[query["way"][0]].add(entry.get("lost", {}).get("how", ""))
    return found


def result(owners: dict[str, set[str]], tests: Collection[str]) -> str:
    """Say whether each request of a way has its own owner, or what went wrong.

    :param owners: who owned the requests, by whose page led to them.
    :returns: ``right``; ``lost`` if some are nobody's; ``wrong`` if one is of another test.
    """
    if any(not owners[who] <= {who, NOBODY} for who in (*tests, NOBODY)):
        return "wrong"
    return "lost" if any(NOBODY in owners[test] for test in tests) else "right"
