"""A proxy that tests started is gone when they are, however they ended."""

import json
import os
import select
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.child_process import Child
from tests.testing import runs

END_SECONDS = 30.0
ENVIRONMENT = {"PYTHONPATH": str(runs.REPOSITORY), "TRAFFICMOCK_PROXY_URL": ""}
ALONE = """
import sys
from trafficmock.testing.launch.proxy_process import process_proxy
print('{"pid": %d}' % process_proxy().pid, flush=True)
sys.stdin.read()
"""
OF_SEVERAL = """
import pathlib, sys, types
from trafficmock.testing.launch import shared_proxy
base = pathlib.Path(sys.argv[1])
config = types.SimpleNamespace()
config._tmp_path_factory = types.SimpleNamespace(getbasetemp=lambda: base)
print('{"pid": %d}' % shared_proxy.get(config, None, None).pid, flush=True)
sys.stdin.read()
"""


class LeaseTests(SynchronousTestCase):
    """Nobody can clean up: processes are killed with SIGKILL."""

    def folder(self) -> Path:
        folder = Path(self.mktemp()).resolve()
        folder.mkdir()
        return folder

    def start(self, *arguments: str) -> tuple[Child, int]:
        """Start a script; give it with its proxy's process id."""
        child = Child.start("a script", [sys.executable, "-c", *arguments], env=ENVIRONMENT)
        self.addCleanup(child.stop)
        return child, child.announced()["pid"]

    def watch(self, pid: int) -> int:
        """Give a descriptor that becomes readable when a process ends."""
        descriptor = os.pidfd_open(pid)
        self.addCleanup(os.close, descriptor)
        return descriptor

    def assert_lives(self, watched: int) -> None:
        self.assertEqual(select.select([watched], [], [], 0)[0], [])

    def assert_ends(self, watched: int) -> None:
        self.assertTrue(select.select([watched], [], [], END_SECONDS)[0], "the proxy lives on")

    def test_process(self) -> None:
        """The proxy of one process ends with it, not before."""
        child, pid = self.start(ALONE)
        proxy = self.watch(pid)
        self.assert_lives(proxy)
        child.process.kill()
        self.assert_ends(proxy)

    def test_several_processes(self) -> None:
        """A shared one stays for the last that needs it; who comes later gets another."""
        arguments = OF_SEVERAL, str(self.folder())
        (first, pid), (second, same) = self.start(*arguments), self.start(*arguments)
        self.assertEqual(pid, same)
        proxy = self.watch(pid)
        first.process.kill()
        first.process.wait()
        third, same = self.start(*arguments)
        self.assertEqual(pid, same)
        for child in (second, third):
            child.process.kill()
        self.assert_ends(proxy)
        last, other = self.start(*arguments)
        self.assertNotEqual(pid, other)
        proxy = self.watch(other)
        last.process.kill()
        self.assert_ends(proxy)

    def test_workers_of_pytest(self) -> None:
        """The proxy of all xdist workers ends when the controller is killed."""
        folder = self.folder()
        gate, notes = folder / "gate", folder / "notes.json"
        os.mkfifo(gate)
        env = {**ENVIRONMENT, **runs.LEAN, "SAMPLE_NOTES": str(notes), "SAMPLE_GATE": str(gate)}
        sample = str(runs.REPOSITORY / "tests/testing/samples/that_waits.py")
        argv = [sys.executable, "-m", *runs.lean_pytest("xdist"), "-n", "2", sample]
        child = Child.start("pytest", argv, env=env, announces=False, cwd=runs.REPOSITORY)
        self.addCleanup(child.stop)
        child.until(notes.exists, "a test that waits")
        proxy = self.watch(json.loads(notes.read_text())["proxy"])
        child.process.kill()
        # Lets the test end; opened for both, so that nobody needs to be there any more.
        opened = os.open(gate, os.O_RDWR)
        self.addCleanup(os.close, opened)
        os.write(opened, b"\n")
        self.assert_ends(proxy)
