"""Runs a workflow of GitHub Actions on this machine: its commands as they stand, in bash.

What the actions of GitHub do (checkout, Python, Node, artifacts) is done here, and only for those
that the examples use. Each job has a directory of its own, and nothing of it outlives the job but
its artifacts. Where the kernel lets us, commands run in a network of their own, so that the ports
of the examples are free, and nothing can leave the machine.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from attrs import define, field, frozen
from twisted.python.filepath import FilePath

from tests.support.processes.process_group import run_group
from tests.support.processes.proxy_process import REPOSITORY

_ALONE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from trafficmock.command.sealing import namespaces
namespaces.enter()
os.execvp(sys.argv[2], sys.argv[2:])
"""
_EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
_WANTED = {
    "success()": {False},
    "failure()": {True},
    "always()": {False, True},
    "!cancelled()": {False, True},
}
"""The conditions of the examples, and after which failures they hold."""


@frozen
class StepRun:
    """A command of a job that has run.

    :param status: its exit status; ``None`` if its time was over.
    """

    name: str
    status: int | None
    output: str


@frozen
class JobRun:
    """A job that has run; its directory is gone.

    :param failed: whether GitHub would show it as failed.
    """

    failed: bool
    steps: tuple[StepRun, ...]

    @property
    def output(self) -> str:
        """What all its commands have written."""
        return "\n".join(f"## {step.name}: {step.status}\n{step.output}" for step in self.steps)

    def step(self, name: str) -> StepRun:
        (found,) = [step for step in self.steps if step.name == name]
        return found


@define
class Machine:
    """What runs jobs.

    :param place: an empty directory.
    :param project: what ``actions/checkout`` checks out.
    :param tools: called for each job with its directory; returns the environment of its commands.
    :param online: the names of steps that need the network, for they install something.
    :param left_out: the names of steps that do not run, because ``tools`` has done it.
    :ivar minute: how many seconds a minute of ``timeout-minutes`` has.
    :ivar artifacts: the directory of what jobs have uploaded.
    """

    place: Path
    project: Path
    tools: Callable[[Path], dict[str, str]]
    online: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    minute: float = field(init=False, default=60)
    artifacts: Path = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.artifacts = self.place / "artifacts"
        self.artifacts.mkdir(parents=True)

    def run(self, workflow: Path) -> dict[str, list[JobRun]]:
        """Run the jobs of a workflow, in the order of the file, those of a matrix one by one.

        :returns: the runs of each job by its name.
        """
        jobs = yaml.safe_load(workflow.read_text())["jobs"]
        runs: dict[str, list[JobRun]] = {}
        for name, job in jobs.items():
            needed = [run for each in _names(job.get("needs", [])) for run in runs[each]]
            if _wanted(job, failed=any(run.failed for run in needed)):
                runs[name] = [self._job(job, values) for values in _matrix(job)]
        return runs

    def _job(self, job: dict[str, Any], values: dict[str, Any]) -> JobRun:
        root = self.place / "job"
        root.mkdir()
        try:
            environment = {**self.tools(root), **job.get("env", {})}
            steps: list[StepRun] = []
            for step in job["steps"]:
                if not _wanted(step, failed=any(each.status != 0 for each in steps)):
                    continue
                if "uses" in step:
                    self._act(step, root, values)
                elif step.get("name") not in self.left_out:
                    steps.append(self._step(step, root / "work", environment, values))
            return JobRun(any(each.status != 0 for each in steps), tuple(steps))
        finally:
            FilePath(str(root)).remove()

    def _act(self, step: dict[str, Any], root: Path, values: dict[str, Any]) -> None:
        action = step["uses"].partition("@")[0]
        given = {name: _filled(str(text), values) for name, text in step.get("with", {}).items()}
        work = root / "work"
        if action == "actions/checkout":
            shutil.copytree(self.project, work, symlinks=True)
        elif action == "actions/upload-artifact":
            uploaded = self.artifacts / given["name"]
            shutil.rmtree(uploaded, ignore_errors=True)
            if (work / given["path"]).exists():
                shutil.copytree(work / given["path"], uploaded)
        elif action == "actions/download-artifact":
            shutil.copytree(self.artifacts, work / given["path"])
        elif action not in {"actions/setup-python", "actions/setup-node"}:
            raise NotImplementedError(action)

    def _step(
        self, step: dict[str, Any], work: Path, environment: dict[str, str], values: dict[str, Any]
    ) -> StepRun:
        script = work.parent / "step.sh"
        script.write_text(_filled(step["run"], values))
        log = work.parent / "step.log"
        # "bash -e" is the shell of GitHub's steps.
        argv = ["bash", "-c", 'exec bash -e "$0" > "$1" 2>&1 < /dev/null', str(script), str(log)]
        if step["name"] not in self.online:
            argv = [sys.executable, "-c", _ALONE, str(REPOSITORY), *argv]
        env = {**environment, **step.get("env", {})}
        seconds = step["timeout-minutes"] * self.minute
        try:
            status = run_group(argv, seconds, cwd=work, env=env).returncode
        except subprocess.TimeoutExpired:
            status = None
        return StepRun(step["name"], status, log.read_text(errors="replace"))


def _names(needs: str | list[str]) -> list[str]:
    return [needs] if isinstance(needs, str) else needs


def _matrix(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """List the values of a job's matrix, for each run of it."""
    axes = job.get("strategy", {}).get("matrix", {})
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def _wanted(item: dict[str, Any], *, failed: bool) -> bool:
    """Tell whether a job or a step runs after what it follows."""
    condition = str(item.get("if", "success()"))
    inner = _EXPRESSION.fullmatch(condition)
    return failed in _WANTED[inner[1] if inner else condition]


def _filled(text: str, values: dict[str, Any]) -> str:
    """Put the values of the matrix into a text."""
    return _EXPRESSION.sub(lambda found: str(values[found[1].removeprefix("matrix.")]), text)
