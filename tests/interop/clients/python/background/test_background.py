"""Work in the background of tests at once is its test's or nobody's, as the page says.

For what is nobody's, the doctor tells where the context was lost.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import quote

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.opentelemetry.frameworks import PATIENT
from tests.interop.clients.python.background.flask_kinds import EVERYONE, POLLER, TICKS
from tests.interop.clients.python.ways.owners import (
    NOBODY,
    SECONDS,
    owners_by_way,
    result,
    told_by_way,
)
from tests.interop.clients.python.ways.pages import load, start
from tests.support.documents import table
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from trafficmock.testing import sync

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = "tests.interop.clients.python.background"
PAGE = REPOSITORY / "docs" / "explanation" / "background-work.md"
TESTS = "ABCDEFGH"
EACH = 2
"""Requests at once for each test, and for nobody."""

FLASK = (f"{HERE}.flask_kinds", "PORT")
FASTAPI = ("uvicorn", "--fd", "FD", "--log-level", "error", f"{HERE}.fastapi_kinds:application")
COUNTS = {POLLER: TICKS + 1}
"""The requests of a kind that works for everyone once it has begun."""


def whose(owners: dict[str, set[str]]) -> str:
    """Say whose the requests of a kind were, in the words of the page.

    :param owners: who owned the requests, by whom they were for.
    """
    if EVERYONE in owners:
        return "nobody's" if owners[EVERYONE] == {NOBODY} else "wrong"
    found = result(owners, TESTS)
    return "nobody's" if found == "lost" else found


class BackgroundTests(SynchronousTestCase):
    """One process of each server."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def ask_all(self, page: str, kind: str, headers: Mapping[str, dict[str, str]]) -> None:
        """Begin a kind of work for all at once, after the one request with which it begins."""
        url = f"{page}/way/{quote(kind)}?who="
        load(f"{url}A", headers["A"])
        with ThreadPoolExecutor(EACH * len(headers)) as pool:
            asked = [
                pool.submit(load, f"{url}{who}", given)
                for who, given in headers.items()
                for _ in range(EACH)
            ]
            for each in asked:
                each.result(SECONDS)

    def found(self, *words: str, **env: str) -> dict[str, tuple[str, set[str]]]:
        """Start a server, begin each kind of work, and say what came of it.

        :returns: by kind: whose its requests were, and what the doctor says of nobody's.
        """
        with ExitStack() as stack:
            proxy = stack.enter_context(running_proxy("--history-limit=1000", *PATIENT))
            mocks = {name: stack.enter_context(sync.mocks(proxy.url, title=name)) for name in TESTS}
            for name, each in mocks.items():
                each.mock("http://api.shop.test/**", body=name)
            page, kinds = start(stack, "kinds", sys.executable, proxy.url, words, **env)
            headers = {NOBODY: {}, **{name: each.headers for name, each in mocks.items()}}
            for kind in kinds:
                self.ask_all(page, kind, headers)
            count = EACH * len(headers) + 1
            owners = owners_by_way(proxy.url, sum(COUNTS.get(kind, count) for kind in kinds))
            told = told_by_way(proxy.url)
            for each in mocks.values():
                each.unroute_all()
                each.take_errors()
        return {kind: (whose(owners[kind]), told[kind]) for kind in kinds}

    def test_page(self) -> None:
        """Each kind is what the page says, and the doctor says what the page says of nobody's."""
        found = self.found(*FLASK) | self.found(*FASTAPI)
        rows = [[cell.replace("`", "") for cell in row] for row in table(PAGE, "In Python")]
        said = {kind: whose for kind, whose, *_ in rows}
        self.assertEqual({kind: whose for kind, (whose, _) in found.items()}, said)
        for kind, _, told, _ in (row for row in rows if row[1] == "nobody's"):
            self.assertNotEqual(found[kind][1], set(), kind)
            for text in found[kind][1]:
                self.assertIn(f"This one left {told}", text, kind)

    def test_off(self) -> None:
        """Where the preload reads no contexts all is nobody's, so this can fail."""
        found = self.found(*FASTAPI, TRAFFICMOCK_CONTEXT="0")
        self.assertEqual({whose for whose, _ in found.values()}, {"nobody's"})
