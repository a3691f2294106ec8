"""What takes long: several versions of Playwright and Node, the packed package."""

from tests.agent.test_deep import VERSIONS, node
from tests.playwright import test_package
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.npm_packages import install

LLM_APP = test_package.PACKAGE / "test" / "deep" / "llm-app"


class DeepTests(test_package.PackageTestCase):
    """Run with ``tox -e deep``."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def test_versions(self) -> None:
        """Older versions of Playwright, repeats, shards and retries."""
        install(test_package.PACKAGE / "test" / "deep", "supertest")
        self.check("deep/versions.test.mjs")

    def test_every_node(self) -> None:
        """The fixtures, the core, and a process attached for its tests, on each Node."""
        for version in VERSIONS:
            for file in ("core.test.mjs", "fixtures.test.mjs", "in-process.test.mjs"):
                self.check(file, node(version))

    def test_in_process(self) -> None:
        """Applications in the process of their tests, in each runner, on each version of Node."""
        install(test_package.PACKAGE / "test" / "deep", "supertest")
        for version in VERSIONS:
            self.check("deep/in-process.test.mjs", node(version))

    def test_jest_faults(self) -> None:
        """A fault of ours, and the end of the proxy, are errors of one test of Jest."""
        install(test_package.PACKAGE / "test" / "deep", "supertest")
        for version in VERSIONS:
            self.check("deep/jest-faults.test.mjs", node(version))

    def test_examples(self) -> None:
        """The examples of the pages about Playwright, Vitest and Node's runner."""
        install(test_package.PACKAGE / "test" / "deep", "supertest")
        self.check("deep/examples.test.mjs")

    def test_llm(self) -> None:
        """The SDKs of language models read streamed mocks, token by token, on each Node."""
        install(LLM_APP, "ai")
        for version in VERSIONS:
            self.check("deep/llm.test.mjs", node(version))

    def test_llm_page(self) -> None:
        """So does the page of a Next.js application that streams them on."""
        install(LLM_APP, "ai")
        self.check("deep/llm-page.test.mjs", node("node22"))

    def test_packed(self) -> None:
        """What npm packs installs into an empty project of strict TypeScript, and works there."""
        self.check("deep/pack.test.mjs")

    def test_config(self) -> None:
        """What a configuration asks the command for, and how often."""
        self.check("config.test.mjs")

    def test_strict(self) -> None:
        """Strict runs, and whom a refused request fails."""
        self.check("deep/strict.test.mjs")

    def test_secure(self) -> None:
        """Tests on an application on https send their context by cookie."""
        self.check("deep/secure.test.mjs")

    def test_firefox(self) -> None:
        """The fixtures in the machine's own Firefox."""
        install(test_package.PACKAGE / "test" / "deep", "supertest")
        self.check("deep/firefox.test.mjs")

    def test_interactive(self) -> None:
        """UI mode, and ``--debug=cli`` with a test that stands still."""
        self.check("deep/interactive.test.mjs")

    def test_standing(self) -> None:
        """A test that stands still at a breakpoint harms no other."""
        self.check("deep/standing.test.mjs")
