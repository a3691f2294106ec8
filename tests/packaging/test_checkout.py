"""Installs of the checkout: from Python, and by the npm package with the proxy."""

import shutil
import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from tests.packaging.installs import call
from tests.support.processes.proxy_process import REPOSITORY


class PluginTests(SynchronousTestCase):
    """What ``pip install -e .`` promises."""

    def test_twistd(self) -> None:
        """``twistd`` lists both services, whatever directory it is run in."""
        shown = call(sys.executable, "-m", "twisted", "--help")
        for service in ("trafficmock", "trafficmock-dashboard"):
            self.assertRegex(shown, rf"(?m)^ +{service} ")


class NpmProxyTests(SynchronousTestCase):
    """Its own tests, with a wheel that needs no other package."""

    def test_environment(self) -> None:
        node = shutil.which("node") or "node"
        argv = [node, "--test", "test/environment.test.mjs"]
        done = subprocess.run(
            argv, cwd=REPOSITORY / "proxy", capture_output=True, text=True, check=False, timeout=240
        )
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
