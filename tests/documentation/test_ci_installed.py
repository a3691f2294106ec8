"""The jobs of the page about continuous integration, with all that their commands install."""

import shutil
from typing import ClassVar

import yaml

from tests.documentation.ci_example import INSTALL, PAGE, WORKFLOW, ExampleTestCase
from tests.documentation.fresh_tools import fresh_tools, vendored
from tests.documentation.github_job import Machine
from tests.support.documents import blocks
from tests.support.hypothesis_profiles import DEEP

GITLAB = "gitlab.yml"
FLAKY = """
from pathlib import Path
from test_stock import ask

def test_flaky(stock, trafficmock, pytestconfig):
    trafficmock.mock("https://warehouse.example/**", json={"count": 7})
    ask(stock, trafficmock)
    if pytestconfig.getoption("reruns", 0):
        was_here = Path("was-here").exists()
        Path("was-here").touch()
        assert was_here
"""
FLAKY_SPEC = """
import { expect, test } from "trafficmock-playwright";

test("is flaky", async ({ request, trafficmock }, { retry }) => {
  await trafficmock.mock("https://prices.example/items/*", { json: { price: 12 } });
  await request.get("/price/teapot");
  expect(retry).toBe(1);
});
"""


class InstalledTestCase(ExampleTestCase):
    """A fresh machine, and the packages in ``vendor``, which the commands of the page make."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"
    online: ClassVar = frozenset({INSTALL})

    def setUp(self) -> None:
        super().setUp()
        shutil.rmtree(self.project / "node_modules")
        (self.project / "vendor").mkdir()
        for package in vendored(PAGE):
            shutil.copy(package, self.project / "vendor")
        self.machine = Machine(self.place / "fresh", self.project, fresh_tools, online=self.online)


class GithubTests(InstalledTestCase):
    """``github.yml``."""

    def test_as_it_stands(self) -> None:
        """The job passes, and keeps the report of both runners."""
        run = self.job()
        self.assertFalse(run.failed, run.output)
        self.assertEqual(self.report()["counts"], {"passed": 4})

    def test_variations(self) -> None:
        """So it does with workers, and with retries, which the report has."""
        (self.project / "test_flaky.py").write_text(FLAKY)
        (self.project / "flaky.spec.mjs").write_text(FLAKY_SPEC)
        commands = [
            line
            for block in blocks(PAGE)
            if block.language == "sh" and "vendor" not in block.text
            for line in block.text.splitlines()
        ]
        installing = {line for line in commands if line.startswith("pip install ")}
        self.assertEqual(len(installing), 2)
        self.assertEqual(len(commands), 5)
        self.machine.online = self.online | installing
        self.replace_tests(*commands)
        run = self.job()
        self.assertEqual([step.status for step in run.steps], [0] * 6, run.output)
        document = self.report()
        self.assertEqual(document["counts"], {"passed": 6})
        titles = [(test["title"], test["outcome"]) for test in document["tests"]]
        self.assertEqual(titles, [("test_flaky.py::test_flaky", "failed"), ("is flaky", "failed")])


class GitlabTests(InstalledTestCase):
    """``gitlab.yml``."""

    def test_as_it_stands(self) -> None:
        """The job passes, and keeps the report of both runners."""
        job = yaml.safe_load((self.project / GITLAB).read_text())["tests"]
        steps = [
            {"uses": "actions/checkout@v4"},
            {"name": INSTALL, "run": _script(job["before_script"]), "timeout-minutes": 20},
            {"name": "Test", "run": _script(job["script"]), "timeout-minutes": 20},
            {
                "uses": "actions/upload-artifact@v4",
                "with": {"name": "report", "path": job["artifacts"]["paths"][0]},
            },
        ]
        workflow = self.project / WORKFLOW
        workflow.write_text(yaml.safe_dump({"jobs": {"tests": {"steps": steps}}}))
        run = self.job()
        self.assertFalse(run.failed, run.output)
        self.assertEqual(self.report()["counts"], {"passed": 4})


def _script(lines: list[str]) -> str:
    """Join the lines of a script as GitLab does."""
    return "\n".join(("set -eo pipefail", *lines))
