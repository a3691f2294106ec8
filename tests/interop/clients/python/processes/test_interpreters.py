"""Each Python from 3.9 to 3.14 that is here: the preload's own tests, libraries, a server."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.attach.python import trafficmock_preload as unit_tests
from tests.interop.clients.python.processes.attached_session import SessionCase, until
from tests.interop.clients.python.processes.interpreters import environment
from tests.interop.clients.python.processes.test_children import POOLS
from tests.interop.clients.python.processes.test_daemons import SHOP
from tests.interop.clients.python.test_services import SECONDS, clean
from tests.support.processes.proxy_process import REPOSITORY, free_port
from trafficmock.attach.python_preload import DIRECTORY

LIBRARY_CALLS = Path(__file__).parents[1] / "library_calls.py"
REFUSED = {
    "urllib": "URLError",
    "urllib3": "NewConnectionError",
    "requests": "ConnectionError",
    "httpx": "ConnectError",
    "httpx_async": "ConnectError",
    "aiohttp": "ClientConnectorError",
    "treq": "ConnectionRefusedError",
}
"""What each library raises where no server listens."""


class InterpreterTests(SessionCase):
    """The preload is the same on each."""

    def check(self, minor: int) -> None:
        self.interpreter = environment(minor)
        self.check_units()
        self.check_libraries()
        self.check_pools()
        self.check_server()

    def check_units(self) -> None:
        """Run the tests that need nothing of trafficmock itself, which is for 3.11 and later."""
        folder = Path(unit_tests.__path__[0])
        names = [
            f"{unit_tests.__name__}.{path.stem}"
            for path in sorted(folder.glob("test_*.py"))
            if "from trafficmock." not in path.read_text()
        ]
        self.assertGreater(len(names), 5)
        done = subprocess.run(
            [
                self.interpreter,
                "-m",
                "twisted.trial",
                f"--temp-directory={self.folder}.units",
                *names,
            ],
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            timeout=SECONDS,
            check=False,
            env={**clean(), "PYTHONDONTWRITEBYTECODE": "1", "TRAFFICMOCK_DEEP": ""},
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def called(self, url: str, proxy_url: str) -> dict[str, Any]:
        """Get a URL with each library."""
        done = subprocess.run(
            [self.interpreter, str(LIBRARY_CALLS), url, *REFUSED],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
            env={
                **clean(),
                "TRAFFICMOCK_PROXY_URL": proxy_url,
                "PYTHONPATH": str(DIRECTORY),
            },
        )
        self.assertEqual(done.stderr, "")
        return dict(zip(REFUSED, map(json.loads, done.stdout.splitlines()), strict=True))

    def check_libraries(self) -> None:
        mocks = self.mocks("mocked")
        mocks.route("https://third.test/", lambda route: route.fulfill(body="mocked"))
        mocks.route("https://third.test/no", lambda route: route.abort("connectionrefused"))
        for scheme in ("http", "https"):
            found = self.called(f"{scheme}://third.test/", self.proxy.url)
            self.assertEqual(found, {name: ["", "mocked"] for name in REFUSED})
        refused = self.called("https://third.test/no", self.proxy.url)
        self.assertEqual({name: error for name, (error, _) in refused.items()}, REFUSED)
        gone = f"127.0.0.1:{free_port()}"
        for name, (error, text) in self.called("http://third.test/", f"http://{gone}").items():
            self.assertIn(f"trafficmock at {gone} cannot be reached", text, (name, error))
        mocks.unroute_all()

    def check_pools(self) -> None:
        mocks = self.mocks("mocked")
        (self.folder / "program.py").write_text(POOLS)
        for method in ("fork", "forkserver", "spawn"):
            session = self.start("program.py", method)
            until(lambda ends=session.process: ends.poll() is not None, "the end", session)  # type: ignore[misc]
            said = json.loads(session.read("out") or "null")
            self.assertEqual(said, ["mocked"] * 9 + [1], session.read("err"))
        mocks.unroute_all()

    def check_server(self) -> None:
        (self.folder / "shop.py").write_text(SHOP)
        tests = [self.mocks(f"of {number}") for number in range(2)]
        port = ("--port", str(self.port))
        session = self.start("-m", "flask", "--app", "shop:application", "run", *port)
        until(lambda: self.load(tests[0]) == "of 0", "a page", session)
        pages = [self.load(test) for _ in range(4) for test in tests]
        self.assertEqual(pages, ["of 0", "of 1"] * 4)
        self.assertEqual(session.end(), [], session.read("err"))

    def test_3_9(self) -> None:
        """Python 3.9."""
        self.check(9)

    def test_3_10(self) -> None:
        """Python 3.10."""
        self.check(10)

    def test_3_11(self) -> None:
        """Python 3.11."""
        self.check(11)

    def test_3_12(self) -> None:
        """Python 3.12."""
        self.check(12)

    def test_3_13(self) -> None:
        """Python 3.13."""
        self.check(13)

    def test_3_14(self) -> None:
        """Python 3.14."""
        self.check(14)
