"""Every client, every feature, over http and https, in one process of each client."""

import atexit
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.interop.clients.clients import ATTACHED, CLIENTS
from tests.interop.clients.features import FEATURES
from tests.interop.clients.matrix import SCHEMES, ClientMatrix, Result, client_matrix
from tests.interop.clients.table import TITLES, table
from tests.support.hypothesis_profiles import DEEP

HTTPX = "httpx-attached"


@cache
def shared() -> ClientMatrix:
    """Give the proxy and the server that all clients of this test run use."""
    held = ExitStack()
    atexit.register(held.close)
    folder = held.enter_context(tempfile.TemporaryDirectory())
    return held.enter_context(client_matrix(Path(folder)))


class ClientTests(SynchronousTestCase):
    """Each client does through the proxy what it does without."""

    def run_client(self, name: str) -> None:
        (client,) = [each for each in (*CLIENTS, *ATTACHED) if each.name == name]
        missing = client.missing()
        if missing:
            raise SkipTest(missing)
        results = list(shared().run(client))
        failed = [result for result in results if result.state == "FAILED"]
        self.assertEqual(failed, [], table(results))
        self.assertEqual(len(results), len(SCHEMES) * len(FEATURES))
        self.assertTrue(any(result.state == "ok" for result in results))

    def test_curl(self) -> None:
        """Curl."""
        self.run_client("curl")

    def test_requests(self) -> None:
        """Requests."""
        self.run_client("requests")

    def test_httpx(self) -> None:
        """Httpx."""
        self.run_client("httpx")

    def test_aiohttp(self) -> None:
        """aiohttp, with its WebSockets."""
        self.run_client("aiohttp")

    def test_urllib3(self) -> None:
        """urllib3."""
        self.run_client("urllib3")

    def test_treq(self) -> None:
        """Treq."""
        self.run_client("treq")

    def test_urllib(self) -> None:
        """Urllib."""
        self.run_client("urllib")

    def test_node(self) -> None:
        """Node 24 with its own support for proxies, and the package ``ws``."""
        self.run_client("node")

    def test_java(self) -> None:
        """Java's HttpClient, with its WebSockets."""
        self.run_client("java")

    def test_go(self) -> None:
        """Go's net/http."""
        self.run_client("go")

    if not DEEP:
        # Its compiler builds the standard library first.
        test_go.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]

    def test_websockets(self) -> None:
        """The package ``websockets``."""
        self.run_client("websockets")

    def test_attached_httpx(self) -> None:
        """Httpx, attached by its environment alone."""
        self.run_client(HTTPX)

    def test_attached_others(self) -> None:
        """The other clients that the preload changes."""
        for client in ATTACHED:
            if client.name != HTTPX:
                self.run_client(client.name)

    if not DEEP:
        test_attached_others.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]

    def test_all_are_run(self) -> None:
        """No client is forgotten here."""
        tests = {name.removeprefix("test_") for name in dir(self) if name.startswith("test_")}
        self.assertEqual({client.name for client in CLIENTS} - tests, set())


class TableTests(SynchronousTestCase):
    """The table says what came of each cell."""

    def test_states(self) -> None:
        """Schemes that agree share a word, others are told apart, and reasons stand below."""
        text = table(
            [
                Result("curl", "http", "get", "ok"),
                Result("curl", "https", "get", "FAILED", "it is why"),
                Result("curl", "http", "post", "ok"),
                Result("curl", "https", "post", "n/a", "it has no post"),
                Result("curl", "http", "download", "ok"),
                Result("curl", "https", "download", "ok"),
                Result("go", "", "", "n/a", "no go here"),
            ]
        )
        self.assertIn("| Feature | curl | Go |", text)
        self.assertIn("| GET: path, query, headers | ok / FAILED | - [1] |", text)
        self.assertIn("| POST with a body | ok / - [2] | - [1] |", text)
        self.assertIn("| large body down | ok | - [1] |", text)
        self.assertIn("\n1. no go here\n2. it has no post\n", text)
        self.assertIn("- curl, get: it is why", text)

    def test_titles(self) -> None:
        """Each feature has a title of its own."""
        names = [feature.__name__.replace("_", " ") for feature in FEATURES]
        self.assertEqual(list(TITLES), names)
        self.assertEqual(len(set(TITLES.values())), len(names))
