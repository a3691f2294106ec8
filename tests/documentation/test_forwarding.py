"""Programs that forward the context of a test by hand, in languages without an agent."""

import os
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import REPOSITORY, free_port, running_proxy
from tests.support.waiting import wait_until
from trafficmock.testing import sync
from trafficmock.testing.sync import TrafficMock

PLACE = REPOSITORY / "docs" / "examples" / "forwarding"
SECONDS = 60.0
ROUNDS = 10

COMMANDS = {
    "php": ("php", "-S", "127.0.0.1:PORT", str(PLACE / "shop.php")),
    "ruby": ("ruby", str(PLACE / "shop.rb"), "PORT"),
    "java": ("java", str(PLACE / "Shop.java"), "PORT"),
    "go": ("go", "run", str(PLACE / "shop.go"), "PORT"),
}


class ForwardingTests(SynchronousTestCase):
    """Tests at once on one server, whose request each of them mocks."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def check(self, language: str) -> None:
        if shutil.which(COMMANDS[language][0]) is None:
            self.skipTest(f"{COMMANDS[language][0]} is not installed")
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        port = free_port()
        proxy = self.enterContext(running_proxy("--ca-dir", str(folder / "ca")))
        words = [word.replace("PORT", str(port)) for word in COMMANDS[language]]
        run = [sys.executable, "-m", "trafficmock", "run", "--proxy-url", proxy.url]
        env = {
            "PRICES": "http://prices.test/",
            "PHP_CLI_SERVER_WORKERS": "4",
            "GOCACHE": str(folder / "go"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        started = [*run, "--ca-dir", str(folder / "ca"), "--no-agent", "--"]
        # A group of its own, with the workers of PHP, which outlive what forks them.
        started += ["setsid", *words]
        shop = Child.start(language, started, env=env, announces=False)
        self.addCleanup(shop.stop)
        self.addCleanup(os.killpg, shop.process.pid, signal.SIGTERM)
        tests = [self.mocks(proxy.url, f"price of {number}") for number in range(4)]

        def load(mocks: TrafficMock) -> str:
            request = Request(f"http://127.0.0.1:{port}/", headers=dict(mocks.headers))
            try:
                with build_opener(ProxyHandler({})).open(request, timeout=SECONDS) as answer:
                    return str(answer.read().decode())
            except OSError:
                return ""

        wait_until(lambda: load(tests[0]) == "price of 0", "a page", seconds=SECONDS)
        with ThreadPoolExecutor(len(tests)) as pool:
            answers = list(pool.map(load, tests * ROUNDS))
        self.assertEqual(answers, [f"price of {number}" for number in range(4)] * ROUNDS)

    def mocks(self, url: str, text: str) -> TrafficMock:
        mocks = self.enterContext(sync.mocks(url))
        mocks.route("http://prices.test/**", lambda route: route.fulfill(body=text))
        return mocks

    def test_php(self) -> None:
        self.check("php")

    def test_ruby(self) -> None:
        self.check("ruby")

    def test_java(self) -> None:
        self.check("java")

    def test_go(self) -> None:
        self.check("go")
