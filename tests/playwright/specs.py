"""Runs specs with the JavaScript fixtures, in a project as a user has it (``run-specs.mjs``)."""

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.interop.npm import specs
from tests.interop.npm.specs import Group, Run
from tests.support.processes.child_process import ChildError
from tests.support.processes.node_app import running_node_app
from tests.support.processes.node_parts import (
    INSTALL_NODE_PARTS,
    INSTALL_PLAYWRIGHT_PACKAGE,
    PLAYWRIGHT_PACKAGE,
    MissingPartError,
    node_binary,
)
from tests.support.processes.proxy_process import StartError
from tests.support.processes.trial_workers import made_once

ROOT = Path(__file__).parents[2]
PACKAGE = PLAYWRIGHT_PACKAGE
SECONDS = 200


def run_specs(group: Group, config: str, *arguments: str) -> Run:
    """Run specs once, with processes of their own.

    :param group: what is around them.
    :param config: the Playwright configuration, by its path in the repository.
    :param arguments: of Playwright.
    :return: the run, the same one at every call.
    :raises ChildError: when one of the processes does not come up.
    :raises MissingPartError: when a part is not installed.
    :raises subprocess.TimeoutExpired: when the run takes over 200 s.
    """
    outcome = _attempt(group, config, *arguments)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


@functools.cache
def _attempt(group: Group, config: str, *arguments: str) -> Run | Exception:
    name = f"{__name__} {(group, config, arguments)}"
    return made_once(name, lambda: _outcome(group, config, *arguments))


def _outcome(group: Group, config: str, *arguments: str) -> Run | Exception:
    # A failure is remembered too, or every test of the group would wait for it again.
    try:
        return _run(group, config, *arguments)
    except (ChildError, StartError, MissingPartError, subprocess.TimeoutExpired) as error:
        return error


def _run(group: Group, config: str, *arguments: str) -> Run:
    if not (PACKAGE / "node_modules" / "fflate").exists():
        raise MissingPartError(
            "the packages of playwright are missing; "
            f"run: {INSTALL_PLAYWRIGHT_PACKAGE} && {INSTALL_NODE_PARTS}"
        )
    with (
        tempfile.TemporaryDirectory() as output,
        running_node_app(group.proxy_options, token=group.token, agent=group.agent) as playing,
    ):
        report = Path(output) / "report.json"
        env = {
            **os.environ,
            **playing.environment(),
            **group.environment(),
            "E2E_FIXTURE": "ours",
            "E2E_OUTPUT": output,
            "PLAYWRIGHT_JSON_OUTPUT_NAME": str(report),
            "TRAFFICMOCK_TEST_PYTHON": sys.executable,
        }
        program = str(PACKAGE / "test" / "lib" / "run-specs.mjs")
        finished = subprocess.run(
            [str(node_binary()), program, config, *arguments],
            env=env,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        written = report.read_text() if report.exists() else ""
        return Run(
            results={(each.file, each.title): each for each in specs._results(written)},
            output=finished.stdout[-4000:] + finished.stderr[-4000:],
            proxy_running=playing.proxy.running(),
            proxy_exit_status=playing.proxy.stop(),
            proxy_log=playing.proxy.written(),
        )


class RunTestCase(SynchronousTestCase):
    """One test for each test of a run.

    Test modules name this class through its module, or trial would collect it itself.
    """

    def check(self, run: Run, file: str, title: str) -> None:
        """Fail with the spec's error unless that test went as it should."""
        result = run.results.get((file, title))
        if result is None:
            self.fail(f"{title!r} did not run:\n{run.output}")
        if result.status == "skipped":
            reasons = result.annotations
            raise SkipTest(reasons.get("meaningless") or reasons.get("skip", ""))
        if complaint := result.complaint():
            self.fail(f"{title}\n{complaint}\nthe proxy's log:\n{run.proxy_log[-3000:]}")

    def check_proxy(self, run: Run) -> None:
        """Fail unless the proxy outlived its clients, and ended cleanly when asked to."""
        self.assertTrue(run.proxy_running, run.proxy_log)
        self.assertNotIn("Traceback", run.proxy_log)
        self.assertEqual(run.proxy_exit_status, 0, run.proxy_log)
