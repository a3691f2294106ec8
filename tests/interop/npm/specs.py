"""Playwright specs as trial tests: one spec file a test case, one title a test.

A run of Playwright's runner with its proxy, upstream and app costs seconds, so
the specs of one directory share one, in whatever worker of trial their tests run.
"""

import functools
import importlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from os.path import normpath
from pathlib import Path
from typing import Any, ClassVar

from attrs import frozen
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.support.processes.child_process import ChildError
from tests.support.processes.node_app import running_node_app
from tests.support.processes.node_parts import (
    NODE_DIRECTORY,
    MissingPartError,
    chromium,
    module_file,
    node_binary,
)
from tests.support.processes.proxy_process import StartError
from tests.support.processes.trial_workers import made_once

RUN_SECONDS = 150.0
SPECS = NODE_DIRECTORY / "specs"

_TITLE = re.compile(r'^test\("([^"]+)"', re.MULTILINE)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@frozen
class Result:
    """How one test of a spec ended."""

    file: str
    title: str
    status: str
    error: str
    annotations: dict[str, str]

    def complaint(self) -> str | None:
        """Say what is wrong with it; ``None`` when it went as its author meant."""
        wanted = self.annotations.get("must-fail")
        if wanted is None:
            return None if self.status == "passed" else f"{self.status}: {self.error}"
        if self.status == "passed" or not re.search(wanted, self.error):
            return f"should fail with /{wanted}/, but: {self.status}: {self.error}"
        return None


@frozen
class Run:
    """One run of a group: results by file and title, the proxy's state and log at its end."""

    results: dict[tuple[str, str], Result]
    output: str
    proxy_running: bool
    proxy_exit_status: int
    proxy_log: str


@frozen
class Group:
    """Specs that share a run, and what they need around them.

    :param directory: theirs, under ``tests/interop/npm/node/specs``.
    :param proxy_options: options of the proxy.
    :param token: the token of proxy and app; specs read it from ``E2E_TOKEN``.
    :param workers: test workers that run the tests side by side; 0 is one
        worker and the order of the files.
    :param browser: whether they need Chromium.
    :param agent: the one in the apps, ``npm`` or ``ours``.
    :param only: the specs that run, by their paths from the directory; all of it without one.
    """

    directory: str
    proxy_options: tuple[str, ...] = ()
    token: str | None = None
    workers: int = 0
    browser: bool = False
    agent: str = "npm"
    only: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        env = {}
        if self.workers:
            env["E2E_WORKERS"] = str(self.workers)
        if self.token:
            env["E2E_TOKEN"] = self.token
        if self.browser:
            env["E2E_CHROMIUM"] = str(chromium())
        return env


def run_group(group: Group) -> Run:
    """Run a group's specs once, with processes of their own.

    :return: the run, the same one at every call.
    :raises ChildError: when one of the processes does not come up.
    :raises MissingPartError: when a part is not installed.
    :raises subprocess.TimeoutExpired: when the run takes over 150 s.
    """
    outcome = _attempt(group)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


@functools.cache
def _attempt(group: Group) -> Run | Exception:
    meanwhile = ((repr(each), functools.partial(_outcome, each)) for each in _groups())
    return made_once(repr(group), lambda: _outcome(group), meanwhile=meanwhile)


def _groups() -> Iterator[Group]:
    """Give the groups of all test cases, as trial comes to them."""
    for module in sorted(Path(__file__).parent.glob("test_*.py")):
        for case in vars(importlib.import_module(f"tests.interop.npm.{module.stem}")).values():
            is_spec = isinstance(case, type) and issubclass(case, SpecTestCase)
            if is_spec and not getattr(case, "skip", None):
                yield case.group


def _outcome(group: Group) -> Run | Exception:
    # A failure is remembered too, or every test of the group would wait for it again.
    try:
        return _run(group)
    except (ChildError, StartError, MissingPartError, subprocess.TimeoutExpired) as error:
        return error


def _run(group: Group) -> Run:
    with (
        tempfile.TemporaryDirectory() as output,
        running_node_app(group.proxy_options, token=group.token, agent=group.agent) as running,
    ):
        env = {**os.environ, **running.environment(), **group.environment(), "E2E_OUTPUT": output}
        finished = _playwright(group, env)
        proxy = running.proxy
        return Run(
            results={(each.file, each.title): each for each in _results(finished.stdout)},
            output=finished.stdout[-4000:] + finished.stderr[-4000:],
            proxy_running=proxy.running(),
            proxy_exit_status=proxy.stop(),
            proxy_log=proxy.written(),
        )


def _playwright(group: Group, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    runner = module_file("@playwright/test/cli.js")
    return subprocess.run(
        [
            node_binary(),
            runner,
            "test",
            *(normpath(f"specs/{group.directory}/{name}") for name in group.only or ("",)),
        ],
        cwd=NODE_DIRECTORY,
        env=env,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )


def _results(report: str) -> Iterator[Result]:
    try:
        suites = json.loads(report)["suites"]
    except ValueError:
        return
    for spec in _spec_reports(suites):
        [test] = spec["tests"]
        last = test["results"][-1]
        errors = "\n".join(error.get("message", "") for error in last["errors"])
        yield Result(
            file=spec["file"].rpartition("/")[2],
            title=spec["title"],
            status=last["status"],
            error=_COLOURS.sub("", errors),
            annotations={each["type"]: each.get("description", "") for each in test["annotations"]},
        )


def _spec_reports(suites: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for suite in suites:
        yield from suite["specs"]
        yield from _spec_reports(suite.get("suites", ()))


def unless_deep() -> str | None:
    """Why a slow test case is skipped, unless ``TRAFFICMOCK_DEEP=1`` asks for it."""
    return None if os.environ.get("TRAFFICMOCK_DEEP") == "1" else "slow: set TRAFFICMOCK_DEEP=1"


def titles(spec: Path) -> list[str]:
    """Read the titles of a spec file's tests."""
    return _TITLE.findall(spec.read_text())


def method_name(title: str) -> str:
    """Name the trial test that stands for a title."""
    return "test_" + re.sub(r"\W+", "_", title).strip("_")


def _expecting(title: str) -> Callable[["SpecTestCase"], None]:
    def test(self: SpecTestCase) -> None:
        self.expect(title)

    test.__doc__ = title
    return test


class SpecTestCase(SynchronousTestCase):
    """A spec file: a subclass names it and its group, and gets a test per title.

    Test modules name this class through its module, or trial would collect it
    itself.
    """

    group: ClassVar[Group]
    spec: ClassVar[str]
    """Its path from the group's directory."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for title in titles(SPECS / cls.group.directory / cls.spec):
            setattr(cls, method_name(title), _expecting(title))

    def expect(self, title: str) -> None:
        """Fail with the spec's error unless the test of that title went as it should."""
        run = run_group(self.group)
        result = run.results.get((Path(self.spec).name, title))
        if result is None:
            self.fail(f"{title!r} did not run:\n{run.output}")
        if result.status == "skipped":
            raise SkipTest(result.annotations.get("skip", ""))
        if complaint := result.complaint():
            self.fail(f"{title}\n{complaint}\nthe proxy's log:\n{run.proxy_log[-3000:]}")

    def test_the_proxy_is_well(self) -> None:
        """The proxy outlives its clients, logs no traceback and ends cleanly when asked to."""
        run = run_group(self.group)
        self.assertTrue(run.proxy_running, run.proxy_log)
        self.assertNotIn("Traceback", run.proxy_log)
        self.assertEqual(run.proxy_exit_status, 0, run.proxy_log)
