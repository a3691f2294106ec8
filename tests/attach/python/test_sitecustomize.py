"""The module that Python imports before an application."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from trafficmock_preload.preload_settings import URL_VARIABLES
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.python_preload import DIRECTORY

SHOW = (
    "import json, sys; print(json.dumps({"
    "'path': sys.path, 'next': getattr(sys.modules.get('sitecustomize'), 'NEXT', None),"
    "'hooks': 'trafficmock_preload.hooks' in sys.modules,"
    "'ours': [name for name in sys.modules if name.startswith('trafficmock')],"
    "'heavy': sorted({'ssl', 'socket', 'http.client', 're', 'typing', 'inspect'} & {*sys.modules})"
    "}))"
)

NEWER = {"itertools.pairwise", "itertools.batched", "types.NoneType", "types.UnionType"}
"""What Python 3.9 has not, nor any syntax that tells it."""


class StartTests(SynchronousTestCase):
    """A process whose ``PYTHONPATH`` begins with the preload."""

    def run_python(
        self, *words: str, path: str = "", **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        entries = [str(DIRECTORY), *([path] if path else [])]
        return subprocess.run(
            [sys.executable, *words],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(entries), **variables},
        )

    def shown(self, path: str = "", **variables: str) -> dict[str, Any]:
        done = self.run_python("-c", SHOW, path=path, **variables)
        self.assertEqual(done.stderr, "")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def test_without_proxy(self) -> None:
        """Without a proxy's URL nothing is imported, and the preload is not on the path."""
        found = self.shown(TRAFFICMOCK_PROXY_URL="", TRAFFICMOCK_CLIENT_ID="shop")
        self.assertEqual((found["ours"], found["next"]), ([], None))
        self.assertNotIn(str(DIRECTORY), found["path"])

    def test_attached(self) -> None:
        """With one, it is attached, and nothing heavy is imported for it."""
        heavy = self.shown()["heavy"]
        for name in URL_VARIABLES:
            found = self.shown(**{name: "http://127.0.0.1:2"})
            self.assertEqual((found["hooks"], found["heavy"]), (True, heavy))

    def test_off(self) -> None:
        """A variable turns it off."""
        off = {"TRAFFICMOCK_PYTHON_PRELOAD": "0"}
        found = self.shown(TRAFFICMOCK_PROXY_URL="http://127.0.0.1:2", **off)
        self.assertFalse(found["hooks"])

    def test_next(self) -> None:
        """The next ``sitecustomize`` is imported under its name, its errors are its own."""
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        following = folder / "sitecustomize.py"
        following.write_text("NEXT = 'there'\n")
        found = self.shown(path=str(folder), TRAFFICMOCK_PROXY_URL="http://127.0.0.1:2")
        self.assertEqual((found["next"], found["hooks"]), ("there", True))
        following.write_text("import of_nobody\n")
        done = self.run_python("-c", "print('goes on')", path=str(folder))
        self.assertEqual(done.stdout, "goes on\n")
        self.assertIn("of_nobody", done.stderr)

    def test_syntax(self) -> None:
        """It is written for Python 3.9, and imports nothing of trafficmock."""
        for path in DIRECTORY.rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    self.assertNotEqual((node.module or "").split(".")[0], "trafficmock", path)
                    names = {f"{node.module}.{each.name}" for each in node.names}
                    self.assertFalse(names & NEWER, path)

    def test_wrong(self) -> None:
        """A mistake in a variable is one line, and no request goes to the real network."""
        done = self.run_python(
            "-c",
            "import http.client\n"
            "try: http.client.HTTPConnection('127.0.0.1', 9).request('GET', '/')\n"
            "except ConnectionRefusedError as error: print(error)",
            TRAFFICMOCK_PROXY_URL="127.0.0.1:4310",
        )
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("must look like http://127.0.0.1:4310", done.stderr)
        self.assertIn("must look like http://127.0.0.1:4310", done.stdout)
