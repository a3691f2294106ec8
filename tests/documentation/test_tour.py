"""The example of the npm fixture, run as the page tells it but for the ports."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError

from twisted.trial.unittest import SynchronousTestCase

from tests.support.documents import blocks
from tests.support.processes.node_parts import MODULES, node_binary
from tests.support.processes.proxy_process import REPOSITORY, free_port, get, running_proxy, until

PAGE = REPOSITORY / "docs" / "how-to" / "runners" / "playwright-npm.md"
FOLDER = Path("docs") / "examples" / "tour"


class TourTests(SynchronousTestCase):
    """What a newcomer is told to type."""

    def setUp(self) -> None:
        typed = [block.text for block in blocks(PAGE) if block.language == "sh"]
        self.start, *self.commands, self.all_in_one = typed
        self.root = Path(self.mktemp()).absolute()
        shutil.copytree(REPOSITORY / FOLDER, self.root / FOLDER)
        (self.root / FOLDER / "node_modules").symlink_to(MODULES)
        self.shop_port = str(free_port())
        programs = self.root / "bin"
        programs.mkdir()
        program = programs / "trafficmock"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trafficmock "$@"\n')
        program.chmod(0o755)
        path = os.pathsep.join((str(programs), str(node_binary().parent), os.environ["PATH"]))
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY)}

    def moved(self, text: str, proxy_url: str) -> str:
        """Put this run's ports in the place of the usual ones."""
        return text.replace("4310", proxy_url.rpartition(":")[2]).replace("3000", self.shop_port)

    def move_files(self, proxy_url: str) -> None:
        for file in (self.root / FOLDER).glob("*.*"):
            file.write_text(self.moved(file.read_text(), proxy_url))

    def run_commands(self, text: str) -> str:
        done = subprocess.run(
            ["/bin/bash", "-ec", text],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.root,
            env=self.environment,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def start_shop(self, text: str) -> None:
        """Start the application; its packages are those of the end-to-end tests."""
        self.assertIn("npm install\n", text)
        output = self.root / "shop.txt"
        with output.open("wb") as written:
            shop = subprocess.Popen(
                ["/bin/bash", "-ec", text.replace("npm install\n", "")],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                cwd=self.root,
                env=self.environment,
                start_new_session=True,
            )
        self.addCleanup(shop.wait, 20)
        self.addCleanup(os.killpg, shop.pid, signal.SIGTERM)
        until(lambda: "shop on http" in output.read_text(), shop, output)

    def test_as_written(self) -> None:
        """Every command works and shows what the page says it shows."""
        with running_proxy() as running:
            self.move_files(running.url)
            self.start_shop(self.start)
            self.environment["TRAFFICMOCK_PROXY_URL"] = running.url
            price, history, test, titles = [
                self.run_commands(self.moved(text, running.url)) for text in self.commands
            ]
        self.assertIn('{"error":"no prices today"}', price)
        _, entry = history.splitlines()
        self.assertRegex(entry, r" passthrough .* shop .*/teapot$")
        self.assertIn("2 passed", test)
        _, *entries = titles.splitlines()
        self.assertEqual(len(entries), 3)
        for expected in (
            r" fulfill .* tells what the price service says$",
            r" abort .* survives a price service that is down$",
            r" passthrough .*/teapot$",
        ):
            self.assertTrue(any(re.search(expected, entry) for entry in entries), titles)

    def test_all_in_one(self) -> None:
        """Playwright's configuration starts proxy and shop, and ends them."""
        url = f"http://127.0.0.1:{free_port()}"
        self.move_files(url)
        self.assertIn("2 passed", self.run_commands(self.moved(self.all_in_one, url)))
        with self.assertRaises(URLError):
            get(f"{url}/health")
