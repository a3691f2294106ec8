"""An application that a plain ``Popen`` starts is attached, whoever made its environment.

Each program asks for a URL where nobody listens, and prints what a test's mock says: one that
is not attached prints the error of a refused connection.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.node_parts import node_binary
from tests.support.processes.proxy_process import REPOSITORY
from tests.support.processes.proxy_process import run as run_command
from tests.testing import runs
from trafficmock.testing import sync
from trafficmock.testing.launch.proxy_process import Proxy, process_proxy, start_proxy

NOWHERE = "https://127.0.0.1:2"
SECONDS = 60.0
FETCH = (
    "fetch(process.argv[1]).then((r) => r.text()).then(console.log, (e) => console.log(e.cause))"
)
URLLIB = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"

COMMANDS = {
    "node": lambda: [_program("node"), "-e", FETCH],
    "node22": lambda: [str(node_binary()), "-e", FETCH],
    "python": lambda: [sys.executable, "-c", URLLIB],
    "curl": lambda: [_program("curl"), "--silent", "--show-error"],
}


def _program(name: str) -> str:
    path = shutil.which(name)
    assert path is not None, f"{name} is not here"
    return path


class PopenTests(SynchronousTestCase):
    """Each way to make the environment, with each runtime."""

    def setUp(self) -> None:
        data = tempfile.TemporaryDirectory()
        self.addCleanup(data.cleanup)
        ours = ("proxy", "trafficmock", "playwright_backend", "node_options")
        kept = {k: v for k, v in os.environ.items() if not any(o in k.lower() for o in ours)}
        self.base = kept | {"PYTHONPATH": str(REPOSITORY), "XDG_DATA_HOME": data.name}
        self.patch(os, "environ", self.base)
        self.proxy = start_proxy()
        self.addCleanup(self.proxy.stop)

    def check(self, environment: dict[str, str], *before: str) -> None:
        """Start each runtime's program, and see that it got the mock.

        :param before: words to put before its command.
        """
        with sync.mocks(self.proxy.url) as mocks:
            for runtime, command in COMMANDS.items():
                url = f"{NOWHERE}/{runtime}"
                mocks.route(url, lambda route: route.fulfill(body="mocked"), client_id="shop")
                process = subprocess.Popen(
                    [*before, *command(), url],
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                message, _ = process.communicate(timeout=SECONDS)
                self.assertEqual((runtime, message.strip()), (runtime, "mocked"))

    def test_run(self) -> None:
        """``trafficmock run`` starts it."""
        run = (sys.executable, "-m", "trafficmock", "run", "--client-id", "shop")
        self.check(self.base, *run, "--proxy-url", self.proxy.url, "--")

    def test_env(self) -> None:
        """``trafficmock env`` prints its environment."""
        words = ("env", "--client-id", "shop", "--proxy-url", self.proxy.url, "--format", "json")
        done = run_command(sys.executable, "-m", "trafficmock", *words)
        self.check({**self.base, **json.loads(done.stdout)})

    def test_fixture(self) -> None:
        """The fixture ``trafficmock_env`` gives its environment."""
        note = Path(self.mktemp()).resolve()
        more = {"SAMPLE_NOTES": str(note), "SAMPLE_CLIENT_ID": "shop", **runs.LEAN}
        sample = str(REPOSITORY / "tests" / "testing" / "samples" / "with_environment.py")
        arguments = (sample, "--trafficmock-proxy-url", self.proxy.url)
        message = runs.run(*runs.lean_pytest(), *arguments, environment=more)
        self.assertIn("1 passed", message)
        self.check(json.loads(note.read_text()))

    def test_process_proxy(self) -> None:
        """``process_proxy().environment()`` gives its environment."""
        self.patch(os, "environ", self.base | {"TRAFFICMOCK_PROXY_URL": self.proxy.url})
        found: Proxy = process_proxy.__wrapped__()
        self.assertEqual(found.url, self.proxy.url)
        self.check(found.environment("shop"))
