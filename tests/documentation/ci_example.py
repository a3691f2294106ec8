"""The example of the page about continuous integration, in a directory of its own."""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.command.sealing.test_sealed import may_seal
from tests.documentation.example_project import programs_of_checkout
from tests.documentation.github_job import JobRun, Machine
from tests.report.test_run_document import SCHEMA
from tests.support.processes.node_parts import install_playwright_package
from tests.support.processes.proxy_process import REPOSITORY

PAGE = REPOSITORY / "docs" / "how-to" / "ci.md"
EXAMPLE = REPOSITORY / "docs" / "examples" / "ci"
WORKFLOW = "github.yml"
INSTALL = "Install"
PYTEST = "Test the Python application"
_STRICT = {
    "pytest.ini": ("trafficmock_strict = true", ""),
    "playwright.config.mjs": (", trafficmockStrict: {}", ""),
    "./playwright.config.mjs": ("{ strict: {} }", ""),
}


def jobs(workflow: Path) -> dict[str, Any]:
    """Read the jobs of a workflow."""
    found: dict[str, Any] = yaml.safe_load(workflow.read_text())["jobs"]
    return found


class ExampleTestCase(SynchronousTestCase):
    """A copy of the example, and a machine that has what its step "Install" would install."""

    def setUp(self) -> None:
        if not may_seal():
            raise SkipTest("the kernel lets this user make no namespaces")
        self.place = Path(self.mktemp()).resolve()
        self.project = self.place / "project"
        shutil.copytree(EXAMPLE, self.project)
        install_playwright_package(self.project)
        self.machine = Machine(
            self.place / "machine",
            self.project,
            programs_of_checkout,
            left_out=frozenset({INSTALL}),
        )

    def job(self) -> JobRun:
        """Run the job of the page."""
        (run,) = self.machine.run(self.project / WORKFLOW)["tests"]
        return run

    def report(self, artifact: str = "report") -> dict[str, Any]:
        """Read the report that the job has uploaded."""
        text = (self.machine.artifacts / artifact / "run.json").read_text()
        document: dict[str, Any] = json.loads(text)
        Draft202012Validator(SCHEMA).validate(document)
        return document

    def leave_strict_mode(self) -> None:
        """Take strict mode out of the files of the project, as the page says."""
        for name, (said, instead) in _STRICT.items():
            text = (self.project / name).read_text()
            self.assertIn(said, text)
            (self.project / name).write_text(text.replace(said, instead))

    def replace_tests(self, *commands: str) -> None:
        """Let the job run these in the place of its tests."""
        changed = jobs(self.project / WORKFLOW)
        steps = changed["tests"]["steps"]
        (at,) = [number for number, step in enumerate(steps) if step.get("name") == PYTEST]
        # That of the other runner follows.
        steps[at : at + 2] = [
            {"name": command, "run": command, "timeout-minutes": 5, "if": "always()"}
            for command in commands
        ]
        (self.project / WORKFLOW).write_text(yaml.safe_dump({"jobs": changed}))
