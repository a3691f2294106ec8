"""The examples of the documentation: the shop, tested with each runner as a reader would."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.documents import blocks
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.node_parts import MODULES, chromium, node_binary
from tests.support.processes.tested_proxy import start_proxy
from tests.testing import runs

EXAMPLES = runs.REPOSITORY / "docs" / "examples"


class ExampleTestCase(SynchronousTestCase):
    """A copy of an example, in which a test runner runs."""

    example: str

    def run_child(self, *arguments: str, **environment: str) -> str:
        folder = Path(self.mktemp()).resolve() / self.example
        shutil.copytree(EXAMPLES / self.example, folder)
        (folder / "node_modules").symlink_to(MODULES)
        node = {"SHOP_NODE": str(node_binary())}
        environment |= node
        return runs.run(*arguments, environment=environment, cwd=folder, path=str(folder))

    def on_one_shop(self, *arguments: str) -> str:
        """Run tests on one shop; ``URL`` among the arguments is where it is."""
        proxy = start_proxy([])
        self.addCleanup(proxy.stop)
        command = [str(node_binary()), str(EXAMPLES / "shop" / "shop.mjs")]
        data = str(Path(self.mktemp()).absolute())
        shop = runs.attached(proxy.url, command, "--client-id", "shop", data=data)
        self.addCleanup(shop.stop)
        url = shop.announced()["url"]
        where = [each.replace("URL", url) for each in arguments]
        return self.run_child(*where, SHOP_URL=url, TRAFFICMOCK_PROXY_URL=proxy.url, **runs.LEAN)


class ShopTests(ExampleTestCase):
    """Each runner passes its five tests."""

    example = "shop"

    def test_pytest(self) -> None:
        """In Chromium, with pytest-playwright."""
        chromium()
        self.assertIn("5 passed", self.run_child(*runs.pytest(), "test_with_pytest.py"))

    def test_async_pytest(self) -> None:
        """In Chromium, with pytest-playwright-asyncio."""
        chromium()
        if find_spec("pytest_playwright_asyncio") is None:
            self.fail("pytest-playwright-asyncio is missing; run: pip install -e '.[test]'")
        plugins = ("playwright-asyncio", "asyncio")
        pytest = [*runs.lean_pytest(*plugins), "-o", "asyncio_default_fixture_loop_scope=session"]
        # Its contexts get the cookie of the test too.
        pytest += ["-o", "trafficmock_origins=http://127.0.0.1:1"]
        output = self.run_child(*pytest, "test_with_async_pytest.py", **runs.LEAN)
        self.assertIn("5 passed", output, output)

    def test_side_by_side(self) -> None:
        """With xdist, all workers on one shop, of which nothing is said but where it is."""
        pytest = (*runs.lean_pytest("xdist", "playwright"), "-n", "2", "test_side_by_side.py")
        output = self.on_one_shop(*pytest, "--base-url", "URL")
        self.assertIn("5 passed", output, output)

    def test_in_parallel(self) -> None:
        """The same with pages, in Chromium."""
        chromium()
        pytest = (*runs.lean_pytest("xdist", "playwright"), "-n", "4", "test_in_parallel.py")
        output = self.on_one_shop(*pytest, "--base-url", "URL")
        self.assertIn("3 passed", output, output)

    if not DEEP:
        for each in (test_async_pytest, test_side_by_side, test_in_parallel):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]

    def test_script(self) -> None:
        """In a script."""
        message = ["Thank you! Receipt R1.", "['http://payments.example/charges']"]
        self.assertEqual(self.run_child("script").splitlines(), message)

    def test_trial(self) -> None:
        """With trial."""
        self.assertIn("PASSED (successes=5)", self.run_child("twisted.trial", "test_with_trial"))

    def test_unittest(self) -> None:
        """With unittest, blocking and with asyncio."""
        output = self.run_child("unittest", "test_with_unittest", "test_with_asyncio")
        self.assertRegex(output, r"Ran 10 tests[^\n]*\n\nOK")


class SeleniumTests(ExampleTestCase):
    """Selenium, where a browser belongs to one test."""

    example = "selenium"

    def test_selenium(self) -> None:
        """By the proxy of the test and by its cookie, with two workers."""
        chromium()
        if find_spec("selenium") is None or shutil.which("chromedriver") is None:
            self.fail("run: pip install selenium, and apt-get install chromium-driver")
        output = self.on_one_shop(*runs.lean_pytest("xdist"), "-n", "2")
        self.assertIn("4 passed", output, output)

    if not DEEP:
        test_selenium.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]


class ChatTests(ExampleTestCase):
    """A page that streams the answer of a language model."""

    example = "chat"

    def test_chat(self) -> None:
        """The page is looked at between two tokens."""
        chromium()
        output = self.run_child(*runs.lean_pytest("playwright"), "--rootdir", ".", **runs.LEAN)
        self.assertIn("2 passed", output, output)


class RecipeTests(ExampleTestCase):
    """The recipes of the documentation."""

    example = "recipes"

    def test_recipes(self) -> None:
        """Each does what its page says; a request that may not leave fails its test by name."""
        output = self.run_child(*runs.lean_pytest(), "--rootdir", ".", **runs.LEAN)
        count = (EXAMPLES / self.example / "test_recipes.py").read_text().count("\ndef test_")
        self.assertIn(f"1 failed, {count + 1} passed", output, output)
        page = EXAMPLES.parent / "how-to" / "strict.md"
        shown = next(each.text for each in blocks(page) if "is not mocked" in each.text)
        process = r"process \d+ \([^)]*\)"
        wanted = re.sub(process, "process", " ".join(shown.split()))
        self.assertIn(wanted, re.sub(process, "process", output))
