"""What pages tell people to type: run where this machine can, else checked for form.

The tutorial, the example of the npm fixture and the shop have tests of their own, which type
them as written. This one takes every other block, so that none is without a check.
"""

import argparse
import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from twisted.python.usage import UsageError
from twisted.trial.unittest import SynchronousTestCase

from tests.command.traffic import Traffic, response
from tests.documentation.test_docs import pages
from tests.support.documents import blocks
from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from trafficmock import cli

EXAMPLES = REPOSITORY / "docs" / "examples"
YAML_FILES = ("ci/github.yml", "ci/github-shards.yml", "ci/gitlab.yml", "docker/compose.yaml")
READS = ("history", "ws", "show", "har", "status", "completion")
ID = "7341eb172fa75"
"""The id that the pages use."""

_OPERATORS = {"|", "||", "&", "&&", ";", ">", ">>", "2>", "<", "(", ")", ">&", "2>&", "!"}
_BEFORE_COMMANDS = {"exec", "until", "do", "then", "if", "while", "eval"}


def shell_texts() -> Iterator[tuple[str, str]]:
    """List everything that is meant for a shell, with where it stands."""
    for page in pages():
        for block in blocks(page):
            if block.language == "sh":
                yield page.name, block.text
    for name in YAML_FILES:
        document = yaml.safe_load((EXAMPLES / name).read_text())
        yield from ((name, text) for text in shell_values(document))
    for name, command in cli.COMMANDS.items():
        if command.module is not None:
            yield name, import_module(f"trafficmock.command.{command.module}").EXAMPLES


def shell_values(value: Any, key: str = "") -> Iterator[str]:
    """List the commands in a document of CI or Docker."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from shell_values(inner, str(name))
    elif isinstance(value, list):
        if value[:1] == ["CMD"]:
            yield shlex.join(value[1:])
        else:
            for inner in value:
                yield from shell_values(inner, key)
    elif key in {"run", "script", "before_script", "after_script", "command"}:
        within = re.fullmatch(r'sh -c "(.*)"', str(value))
        yield within[1] if within else str(value)


def simple_commands(text: str) -> Iterator[list[str]]:
    """Take a shell text apart into commands with their words."""
    for line in text.replace("$(", "( ").replace("\\\n", " ").splitlines():
        reader = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        reader.whitespace_split = True
        words: list[str] = []
        for token in reader:
            if token in _OPERATORS or set(token) <= set("|&;<>()"):
                yield words
                words = []
            elif words or token not in _BEFORE_COMMANDS | {"!"}:
                words.append(token)
        yield words


class FormTests(SynchronousTestCase):
    """Blocks are what they say they are."""

    def test_shell(self) -> None:
        """Every text for a shell is one that bash can read."""
        texts = list(shell_texts())
        self.assertGreater(len(texts), 30)
        for where, text in texts:
            done = subprocess.run(
                ["/bin/bash", "-n"], input=text, capture_output=True, text=True, check=False
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{where}: {text}")

    def test_our_commands(self) -> None:
        """Every ``trafficmock`` and ``twistd`` in them is understood, with all its options."""
        checked = 0
        for where, text in shell_texts():
            for words in simple_commands(text):
                if words[:1] == ["trafficmock"]:
                    self.check_words(where, words[1], words[2:])
                    checked += 1
                elif words[:3] == ["twistd", "-n", "trafficmock"]:
                    self.check_words(where, "serve", words[3:])
                    checked += 1
        self.assertGreater(checked, 30)

    def check_words(self, where: str, name: str, words: list[str]) -> None:
        message = f"{where}: trafficmock {name} {shlex.join(words)}"
        self.assertIn(name, cli.COMMANDS, message)
        command = cli.COMMANDS[name]
        if name == "completion" and words == ["SHELL"]:
            return
        try:
            if command.module is None:
                command.usage(name).parseOptions(words)
            else:
                parser(command.module).parse_args(words)
        except (SystemExit, UsageError) as error:
            raise AssertionError(message) from error

    def test_other_languages(self) -> None:
        """Every block of Python, JavaScript, JSON, YAML and INI can be read as such."""
        checks: dict[str, Callable[[str], Any]] = {
            "python": self.python,
            "js": self.js,
            "json": json.loads,
            "ini": self.ini,
        }
        checks["yaml"] = yaml.safe_load
        found = set()
        for page in pages():
            for block in blocks(page):
                if block.language in checks:
                    checks[block.language](block.text)
                    found.add(block.language)
                elif not block.language.startswith("{"):
                    self.assertIn(block.language, ("sh", "text", ""), page)
        self.assertEqual(found, {"python", "js", "json", "ini"})

    def python(self, text: str) -> None:
        compile(text, "block", "exec")

    def ini(self, text: str) -> None:
        configparser.ConfigParser().read_string(text)

    def js(self, text: str) -> None:
        """Check a module, or a part of an object."""
        file = Path(self.mktemp()).with_suffix(".mjs")
        for form in (text, f"({{\n{text}\n}})"):
            file.write_text(form)
            node = shutil.which("node") or "node"
            done = subprocess.run([node, "--check", file], capture_output=True, check=False)
            if done.returncode == 0:
                return
        raise AssertionError(text)

    def test_yaml_files(self) -> None:
        """The files for GitHub, GitLab and Docker have the parts that make them up."""
        files = [yaml.safe_load((EXAMPLES / name).read_text()) for name in YAML_FILES]
        *githubs, gitlab, compose = files
        for github in githubs:
            # YAML 1.1 reads the key "on" as true.
            self.assertEqual(set(github), {"name", True, "jobs"})
            steps = [step for job in github["jobs"].values() for step in job["steps"]]
            self.assertTrue(all(len({"uses", "run"} & set(step)) == 1 for step in steps))
        known = {"image", "timeout", "before_script", "script"}
        self.assertEqual(set(gitlab["tests"]) - known, {"artifacts"})
        networks = set(compose["networks"])
        for name, one in compose["services"].items():
            self.assertLessEqual(set(one["networks"]), networks, name)
            self.assertLessEqual(set(one.get("depends_on", ())), set(compose["services"]), name)


class RunTests(SynchronousTestCase):
    """What reads a proxy is run against one."""

    def test_reading(self) -> None:
        """Every command of ours and every curl that reads the usual proxy works as it stands."""
        with running_proxy() as proxy:
            traffic = Traffic.at(proxy.url).everything()
            traffic.passed(ID, "https://api.example/teapot", response(200, "short and stout"))
            traffic.settled()
            ran = sum(self.run_lines(where, text, proxy.url) for where, text in shell_texts())
            traffic.close()
        self.assertGreater(ran, 20)

    def run_lines(self, where: str, text: str, url: str) -> int:
        """Run the lines that read; give how many there were."""
        lines = [line for line in text.splitlines() if self.reads(line)]
        for line in lines:
            done = subprocess.run(
                ["/bin/bash", "-o", "pipefail", "-c", line.replace("http://127.0.0.1:4310", url)],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                cwd=self.directory(),
                env=self.environment(url),
            )
            self.assertIn(done.returncode, (0, 1), f"{where}: {line}\n{done.stderr}")
            self.assertNotIn("Traceback", done.stderr)
            if "curl" in line:
                self.assertEqual(done.returncode, 0, f"{where}: {line}\n{done.stderr}")
        return len(lines)

    @staticmethod
    def reads(line: str) -> bool:
        """Tell whether a line only reads, and ends by itself."""
        words = line.split()
        ours = words[:1] == ["trafficmock"] and words[1] in READS and ">" not in line
        curls = words[:1] == ["curl"] and "127.0.0.1:4310" in line
        # ``check`` reads the report of a run, which tests of its page write.
        follows = {"--follow", "-f", "SHELL", "less", "check"} & set(words)
        return (ours or curls) and not follows and "ID " not in f"{line} "

    def directory(self) -> Path:
        folder = Path(self.mktemp()).absolute()
        (folder / "bin").mkdir(parents=True)
        program = folder / "bin" / "trafficmock"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trafficmock "$@"\n')
        program.chmod(0o755)
        self.programs = folder / "bin"
        return folder

    def environment(self, url: str) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
            "TRAFFICMOCK_PROXY_URL": url,
        }


def parser(module: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = import_module(f"trafficmock.command.{module}").parser()
    return made
