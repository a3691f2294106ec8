"""The npm package with the proxy makes its environment of Python once, and calls the command."""

import shutil
import subprocess

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY


class NpmProxyTests(SynchronousTestCase):
    """Its own tests, with a wheel that needs no other package."""

    def test_environment(self) -> None:
        node = shutil.which("node") or "node"
        argv = [node, "--test", "test/environment.test.mjs"]
        done = subprocess.run(
            argv, cwd=REPOSITORY / "proxy", capture_output=True, text=True, check=False, timeout=240
        )
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
