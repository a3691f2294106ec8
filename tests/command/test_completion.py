"""Completion in shells."""

import subprocess
import sys
from pathlib import Path

from tests.command.recorded_proxy import CommandTestCase
from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.command.completion import SHELLS, whole_parser

BASH = """
eval "$(trafficmock completion bash)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
_python_argcomplete trafficmock
printf '%s\\n' "${COMPREPLY[@]}"
"""


class ScriptTests(CommandTestCase):
    """What shells are given."""

    def test_shells(self) -> None:
        """There is a script for each of the shells, and only for these."""
        texts = set()
        for shell, sends in (("bash", "complete "), ("zsh", "compdef "), ("fish", "complete ")):
            done = self.run_command("completion", shell)
            self.assertEqual(done.status, 0)
            self.assertIn(sends, done.out)
            self.assertIn("trafficmock", done.out)
            texts.add(done.out)
        self.assertEqual(len(SHELLS), 3)
        self.assertEqual(self.run_command("completion", "tcsh").status, 2)
        self.assertEqual(self.run_command("completion").status, 2)

    def test_lazy(self) -> None:
        """Only the command on the line is loaded, with its options."""
        commands = {"status": "status", "odd": "no_such_module", "serve": "no_such:Thing"}
        whole = whole_parser(commands, "trafficmock status --")
        self.assertTrue(whole.parse_args(["status", "--json"]).json)


class BashTests(CommandTestCase):
    """A line in bash."""

    def complete(self, line: str) -> list[str]:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        program = folder / "trafficmock"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trafficmock "$@"\n')
        program.chmod(0o755)
        done = subprocess.run(
            ["/bin/bash", "-c", BASH, "bash", line],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
            env={
                **self.environment,
                "PATH": f"{folder}:/usr/bin:/bin",
                "PYTHONPATH": str(REPOSITORY),
            },
        )
        self.assertEqual(done.stderr, "")
        return [word.strip() for word in done.stdout.splitlines()]

    def test_commands(self) -> None:
        """Commands."""
        self.assertEqual(self.complete("trafficmock h"), ["history", "har"])

    def test_options(self) -> None:
        """Options, of commands with either kind of parser, and their values."""
        self.assertEqual(self.complete("trafficmock history --fo"), ["--follow"])
        self.assertEqual(self.complete("trafficmock history --action pa"), ["passthrough"])
        self.assertEqual(self.complete("trafficmock serve --history-c"), ["--history-capture"])

    def test_ids(self) -> None:
        """Ids of what the proxy has recorded."""
        self.assertEqual(sorted(self.complete("trafficmock show hop")), ["hop-1", "hop-2", "hop-3"])
