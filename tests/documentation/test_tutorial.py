"""The README and the tutorial, typed as written but for the ports, and what pip and npm bring."""

import functools
import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import attrs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.documents import Block, blocks, shows
from tests.support.processes.node_parts import chromium, install_playwright_package
from tests.support.processes.proxy_process import REPOSITORY, free_port, get, until

PAGE = REPOSITORY / "docs" / "tutorial.md"
README = REPOSITORY / "README.md"
FOLDER = Path("docs") / "examples" / "checkout"
FIRST = Path("docs") / "examples" / "first"
PLUGIN = "trafficmock.testing.pytest_plugin"
OTHER = "-p no:playwright-asyncio"
"""The tests of the project have both of Playwright's plugins, which pytest loads one at a time."""

INSTALL = (
    "python3 -m venv .venv\n. .venv/bin/activate\npip install '.[testing]' pytest-playwright\n"
)
INSTALL_NPM = """\
npm pack ../../../agent ../../../playwright
npm install --save-dev @playwright/test ./trafficmock-agent-*.tgz ./trafficmock-playwright-*.tgz
"""
STAYS = {
    "trafficmock serve": "listens on",
    "trafficmock dashboard": "listens on",
    "trafficmock run": "shop on",
    "history --follow": "what_is_charged",
}
"""Commands that do not end, and what they write when they are ready."""


class Terminal:
    """A shell that keeps its directory and its variables from one block to the next."""

    def __init__(self, root: Path, name: str, environment: dict[str, str]) -> None:
        self.output = root / f"{name}.txt"
        with self.output.open("wb") as written:
            self.shell = subprocess.Popen(
                ["/bin/bash", "--norc"],
                stdin=subprocess.PIPE,
                stdout=written,
                stderr=subprocess.STDOUT,
                cwd=root,
                env=environment,
                start_new_session=True,
            )
        self._typed = 0

    def type(self, text: str, ready: str | None) -> str:
        """Type a block; give what it wrote until it ended, or until it is ready."""
        before = len(self.output.read_text())
        self._typed += 1
        end = ready or f"end {self._typed} with "
        assert self.shell.stdin is not None
        self.shell.stdin.write(text.encode())
        if ready is None:
            self.shell.stdin.write(f'echo; echo "end {self._typed} with $?"\n'.encode())
        self.shell.stdin.flush()
        until(lambda: end in self.output.read_text()[before:], self.shell, self.output)
        return self.output.read_text()[before:]

    def close(self) -> None:
        """End it, and whatever runs in it."""
        os.killpg(self.shell.pid, signal.SIGTERM)
        assert self.shell.stdin is not None
        self.shell.stdin.close()
        self.shell.wait(20)


class PageTestCase(SynchronousTestCase):
    """A page whose commands are typed in a directory that looks like a checkout."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp()).absolute()
        self.ports = {usual: str(free_port()) for usual in ("4310", "4311", "3000")}
        for folder in (FOLDER, FIRST):
            shutil.copytree(REPOSITORY / folder, self.root / folder)
            for file in (self.root / folder).glob("*.*"):
                file.write_text(self.moved(file.read_text()))
        self.make_programs()
        self.terminals: dict[str, Terminal] = {}

    def moved(self, text: str) -> str:
        """Put this run's ports in the place of the usual ones."""
        for usual, mine in self.ports.items():
            text = text.replace(usual, mine)
        for command, usual in (("trafficmock serve", "4310"), ("trafficmock dashboard", "4311")):
            text = text.replace(command, f"{command} --port {self.ports[usual]}")
        return text

    def make_programs(self) -> None:
        """Put in place what the page's first commands would install."""
        place = self.root / ".venv" / "bin"
        place.mkdir(parents=True)
        installed = any(each.value == PLUGIN for each in entry_points(group="pytest11"))
        plugin = "" if installed else f"-p {PLUGIN}"
        for name, words in (("trafficmock", "trafficmock"), ("pytest", f"pytest {OTHER} {plugin}")):
            program = place / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {words} "$@"\n')
            program.chmod(0o755)
        (place / "activate").write_text(f'export PATH="{place}:$PATH"\n')

    def terminal(self, name: str) -> Terminal:
        """Give the terminal of this name; the first time it opens."""
        if name not in self.terminals:
            kept = {k: v for k, v in os.environ.items() if "TRAFFICMOCK_" not in k}
            kept["PYTHONPATH"] = str(REPOSITORY)
            kept["TRAFFICMOCK_PROXY_URL"] = f"http://127.0.0.1:{self.ports['4310']}"
            self.terminals[name] = Terminal(self.root, name, kept)
            self.addCleanup(self.terminals[name].close)
        return self.terminals[name]

    def do(self, block: Block) -> str:
        """Do what a block says: write a file, or type into a terminal."""
        text = self.moved(block.text.replace(INSTALL_NPM, ""))
        if block.language in {"python", "js"}:
            with (self.root / FOLDER / block.caption).open("a") as file:
                file.write(f"\n\n{text}" if file.tell() else text)
            return ""
        ready = next((word for command, word in STAYS.items() if command in block.text), None)
        terminal = self.terminal(block.caption)
        message = terminal.type(text, ready)
        if "trafficmock run" in text:
            # A person is slower than the agent's handshake; a test may be faster.
            proxy = f"http://127.0.0.1:{self.ports['4310']}"
            there = functools.partial(get, f"{proxy}/api/connections")
            until(lambda: there()["nodeAgents"], terminal.shell, terminal.output)
        return message


class ReadmeTests(PageTestCase):
    """The example on the first page."""

    def test_as_written(self) -> None:
        """Its test passes, and the commands print what stands beside it."""
        test, output, install, attach, run, *_ = blocks(README)
        self.assertEqual(test.text, (REPOSITORY / FIRST / "test_shop.py").read_text())
        start = install.text.rpartition("&& .venv/bin/")[2]
        self.assertEqual(start, "trafficmock serve --port 4310\n")
        self.do(Block("sh", "proxy", f". .venv/bin/activate\n{start}"))
        self.do(attrs.evolve(attach, caption="shop"))
        typed = "".join(f"echo '$ {line}'\n{line}\n" for line in run.text.splitlines()[1:])
        self.do(Block("sh", "test", run.text.splitlines()[0] + "\n"))
        message = self.do(Block("sh", "test", typed))
        self.assertTrue(
            shows(message, self.moved(output.text)), f"{output.text}\n--- but:\n{message}"
        )


class TutorialTests(PageTestCase):
    """A newcomer's first ten minutes."""

    def setUp(self) -> None:
        chromium()
        super().setUp()
        install_playwright_package(self.root / FOLDER)

    def test_as_written(self) -> None:
        """Every command works and shows what the page says it shows."""
        first, *others = blocks(PAGE)
        self.assertEqual((first.caption, first.text), ("Terminal 1", INSTALL))
        self.assertEqual(sum(INSTALL_NPM in block.text for block in others), 1)
        self.terminal(first.caption).type(". .venv/bin/activate\n", None)
        message, samples = "", 0
        for block in others:
            if block.language == "text":
                self.assertTrue(shows(message, block.text), f"{block.text}\n--- but:\n{message}")
                samples += 1
            else:
                message = self.do(block)
        self.assertEqual(samples, 9)
        shown = get(f"http://127.0.0.1:{self.ports['4311']}/api/history?fields=summary")
        self.assertGreaterEqual(len(shown["entries"]), 5)
