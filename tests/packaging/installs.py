"""A wheel and an editable install both show the plugin to twistd, and serve.

The environment of the tests is an editable install, and ``test_checkout.py`` asks it for the
plugin, so only the deep run makes another one.
"""

import functools
import re
import subprocess
import sys
import urllib.request
import venv
import zipfile
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from twisted.python.filepath import FilePath
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY, running_proxy

ELSEWHERE = Path("/")
"""Where commands run, so that nothing is found because the checkout is the current directory."""


class BuiltTests(SynchronousTestCase):
    """The wheel, built from the sdist."""

    def setUp(self) -> None:
        self.wheel, self.output = built()

    def test_contents(self) -> None:
        """The wheel has the types' marker and the plugin, and no tests or caches."""
        names = zipfile.ZipFile(self.wheel).namelist()
        self.assertIn("trafficmock/py.typed", names)
        self.assertIn("twisted/plugins/trafficmock_plugin.py", names)
        self.assertNotIn("twisted/plugins/__init__.py", names)
        self.assertNotIn("twisted/__init__.py", names)
        strange = [name for name in names if name.startswith("tests") or "dropin" in name]
        self.assertEqual(strange, [])

    def test_agent(self) -> None:
        """The wheel brings the Node agent, in one file, and what it owes to others."""
        names = zipfile.ZipFile(self.wheel).namelist()
        for name in ("register.js", "index.js", "THIRD-PARTY-LICENSES"):
            self.assertIn(f"trafficmock/_agent/{name}", names)
        self.assertEqual([name for name in names if "node_modules" in name], [])

    def test_npm_packages(self) -> None:
        """The build installs the npm packages of the bundle, not those of the agent's tests."""
        self.assertEqual(re.findall(r"added (\d+) packages", self.output), ["3"])

    def test_dashboard(self) -> None:
        """The wheel brings every file of the dashboard's pages."""
        static = REPOSITORY / "trafficmock" / "dashboard" / "static"
        ours = {str(path.relative_to(REPOSITORY)) for path in static.rglob("*") if path.is_file()}
        self.assertGreater(len(ours), 30)
        self.assertEqual(ours - set(zipfile.ZipFile(self.wheel).namelist()), set())

    def test_every_module(self) -> None:
        """Every module of the checkout is in the wheel."""
        ours = {
            str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "trafficmock").rglob("*.py")
        }
        self.assertEqual(ours - set(zipfile.ZipFile(self.wheel).namelist()), set())

    def test_serves(self) -> None:
        """Installed from the wheel, twistd knows the plugin and the service answers."""
        check_install(self, str(self.wheel))


class EditableTests(SynchronousTestCase):
    """``pip install -e .`` without further options."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def test_serves(self) -> None:
        """Installed editable, twistd knows the plugin and the service answers."""
        check_install(self, "--editable", str(REPOSITORY))


class Built(NamedTuple):
    """The wheel, and what the build wrote."""

    wheel: Path
    output: str


@functools.cache
def built() -> Built:
    """Build sdist and wheel, in isolation, below trial's temporary directory."""
    directory = Path("built").absolute()
    output = call(sys.executable, "-m", "build", "--outdir", str(directory), str(REPOSITORY))
    (wheel,) = directory.glob("*.whl")
    return Built(wheel, output)


def check_install(test: SynchronousTestCase, *what: str) -> None:
    """Install into a fresh environment and use it as a user does."""
    directory = Path(mkdtemp())
    test.addCleanup(FilePath(str(directory)).remove)
    venv.create(directory)
    programs = directory / "bin"
    call(sys.executable, "-m", "pip", "--python", str(directory), "install", "--quiet", *what)
    twistd = str(programs / "twistd")
    test.assertIn("trafficmock", call(twistd, "--help"))
    test.assertIn("--claim-timeout-ms", call(twistd, "-n", "trafficmock", "--help"))
    for command in ([twistd, "-n", "trafficmock"], [str(programs / "trafficmock"), "serve"]):
        with running_proxy(command=command, cwd=ELSEWHERE) as running:
            test.assertTrue(running.get("/health")["ok"])
    for command in (
        [twistd, "-n", "trafficmock-dashboard"],
        [str(programs / "trafficmock"), "dashboard"],
    ):
        with running_proxy(command=command, cwd=ELSEWHERE) as running:
            test.assertEqual(running.get("/health")["service"], "trafficmock-dashboard")
            start = urllib.request.urlopen(running.url, timeout=20).read()  # noqa: S310 - loopback
            test.assertIn(b"/js/main.js", start)


def call(*argv: str) -> str:
    """Run a command that must succeed.

    :returns: what it wrote.
    """
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ELSEWHERE,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout
