"""Work in the background of tests at once is its test's or nobody's, as the page says.

For what is nobody's, the doctor tells where the context was lost.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from urllib.parse import quote

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.opentelemetry.frameworks import PATIENT
from tests.interop.clients.python.background.flask_kinds import EVERYONE, POLLER, TICKS
from tests.interop.clients.python.test_services import clean
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

HERE = "tests.interop.clients.python.background"
PAGE = REPOSITORY / "docs" / "explanation" / "background-work.md"
TESTS = "ABCDEFGH"
EACH = 2
"""Requests at once for each test, and for nobody."""

FLASK = (f"{HERE}.flask_kinds", "PORT")
FASTAPI = ("uvicorn", "--fd", "FD", "--log-level", "error", f"{HERE}.fastapi_kinds:application")
LIBRARIES = ("uvicorn", "--fd", "FD", "--log-level", "error", f"{HERE}.library_kinds:application")
GEVENT = (
    "bin/gunicorn",
    "-k",
    "gevent",
    "-b",
    "127.0.0.1:PORT",
    f"{HERE}.greenlet_kinds:application",
)
EVENTLET = (f"{HERE}.greenlet_kinds", "PORT")
PACKAGES = (
    *("aiodataloader", "aiojobs", "apscheduler<4", "channels", "eventlet", "fastapi", "flask"),
    *("gevent", "gunicorn", "httpx", "hypothesis", "janus", "pyee", "reactivex", "requests"),
    *("strawberry-graphql", "taskiq", "uvicorn"),
)
INSTALL_SECONDS = 600
COUNTS = {POLLER: TICKS + 1}
"""The requests of a kind that works for everyone once it has begun."""


@cache
def python() -> str:
    """Make an environment with libraries; return its interpreter."""
    folder = Path(tempfile.mkdtemp(prefix="trafficmock-background-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    made = str(folder / "bin" / "python")
    install = [made, "-m", "pip", "install", "--quiet", *PACKAGES]
    subprocess.run(install, check=True, timeout=INSTALL_SECONDS, env=clean())
    return made


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

    def found(
        self, *words: str, interpreter: str = sys.executable, **env: str
    ) -> dict[str, tuple[str, set[str]]]:
        """Start a server, begin each kind of work, and say what came of it.

        :returns: by kind: whose its requests were, and what the doctor says of nobody's.
        """
        with ExitStack() as stack:
            proxy = stack.enter_context(running_proxy("--history-limit=1000", *PATIENT))
            mocks = {name: stack.enter_context(sync.mocks(proxy.url, title=name)) for name in TESTS}
            for name, each in mocks.items():
                each.mock("http://api.shop.test/**", body=name)
            page, kinds = start(stack, "kinds", interpreter, proxy.url, words, **env)
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
        self.compare(self.found(*FLASK) | self.found(*FASTAPI), "In Python")

    def test_libraries(self) -> None:
        """So it is with libraries that keep jobs."""
        self.compare(self.found(*LIBRARIES, interpreter=python()), "With a library, in Python")

    def test_greenlets(self) -> None:
        """So it is in greenlets."""
        servers = (GEVENT, EVENTLET)
        found = [self.found(*words, interpreter=python()) for words in servers]
        self.compare(found[0] | found[1], "In greenlets")

    def compare(self, found: Mapping[str, tuple[str, set[str]]], title: str) -> None:
        """Compare what came of work with a table of the page."""
        rows = [[cell.replace("`", "") for cell in row] for row in table(PAGE, title)]
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
