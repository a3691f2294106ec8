"""``twistd`` without ``-n``: what the terminal is told, and what is left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY, TWISTD, get, run, running_proxy
from tests.support.waiting import wait_until
from trafficmock.server.process.daemon import Daemon, Foreground

SERVICES = ("trafficmock", "trafficmock-dashboard")
HERE = {"PYTHONPATH": str(REPOSITORY)}


class DaemonCase(SynchronousTestCase):
    """Starts daemons in a directory of their own."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute()
        self.directory.mkdir()

    def start(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Start a daemon; a terminal that waits for ever fails the test."""
        return run(*TWISTD, *words, env=HERE, cwd=self.directory)


class SuccessTests(DaemonCase):
    """A daemon that comes up."""

    def test_life(self) -> None:
        """It serves when the terminal is free again, and goes without a trace but its log."""
        for name in SERVICES:
            started = self.start(name, "--port", "0", "--ready-file", "ready.json")
            self.assertEqual((started.returncode, started.stdout, started.stderr), (0, "", ""))
            pid = int((self.directory / "twistd.pid").read_text())
            self.addCleanup(end, pid, signal.SIGKILL)
            ready = json.loads((self.directory / "ready.json").read_text())
            self.assertEqual(ready["pid"], pid)
            self.assertTrue(get(f"{ready['url']}/health")["ok"])
            end(pid, signal.SIGTERM)
            wait_until(lambda: not (self.directory / "twistd.pid").exists(), "the end")
            log = self.directory / "twistd.log"
            lines = log.read_text().splitlines()
            # The reactor of select says before that what it holds.
            lines = [line for line in lines if "select holds" not in line]
            self.assertRegex(lines[0], r"trafficmock.* listens on http://127\.0\.0\.1:")
            self.assertRegex(lines[-1], rf"{name.replace('-', ' ')} stopped$")
            self.assertNotIn("Traceback", log.read_text())
            self.assertEqual(list(self.directory.iterdir()), [log])
            log.unlink()


class FailureTests(DaemonCase):
    """A daemon that does not come up: status 1 and one line, soon."""

    def refused(self, *words: str, message: str) -> None:
        done = self.start(*words)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertRegex(done.stderr, rf"\Atrafficmock: {message}.*\n\Z")
        log = self.directory / "twistd.log"
        written = log.read_text() if log.exists() else ""
        self.assertNotIn("Traceback", written)
        self.assertEqual([path for path in self.directory.iterdir() if path != log], [])

    def test_port_in_use(self) -> None:
        """A port that is taken is named on the terminal and in the log."""
        with running_proxy() as running:
            port = running.url.rpartition(":")[2]
            for name in SERVICES:
                message = f"cannot listen: .*127.0.0.1:{port}.*in use"
                self.refused(name, "--port", port, message=message)
                self.assertRegex((self.directory / "twistd.log").read_text(), message)

    def test_beyond_loopback(self) -> None:
        """Listening beyond loopback without a token is refused."""
        everywhere = ("--host", "0.0.0.0", "--port", "0")  # noqa: S104 - what is refused
        self.refused("trafficmock", *everywhere, message="refusing to listen on 0.0.0.0 without")

    def test_paths(self) -> None:
        """Files that cannot be written are named."""
        (self.directory / "twistd.log").touch()
        options = ("--logfile", "--pidfile", "--rundir", "--chroot")
        for name, few in zip(SERVICES, (options[:1], options[1:2]), strict=True):
            for option in options if DEEP else few:
                message = f"{option} '.*none/x' "
                self.refused(option, "none/x", name, "--port", "0", message=message)
            ready = ("--port", "0", "--ready-file", "none/x")
            self.refused(name, *ready, message="--ready-file 'none/x' cannot be written")

    def test_running_already(self) -> None:
        """The pid file of a process that runs is named, and left alone."""
        pidfile = Path(self.mktemp()).absolute()
        pidfile.write_text(f"{os.getpid()}\n")
        message = f"--pidfile '{pidfile}' is that of process {os.getpid()}, which runs"
        for name in SERVICES:
            self.refused("--pidfile", str(pidfile), name, "--port", "0", message=message)
        self.assertEqual(pidfile.read_text(), f"{os.getpid()}\n")

    def test_own_end(self) -> None:
        """A daemon that twistd ends before its start is complete is no success."""
        refusing = (
            "from twisted.scripts import _twistd_unix as unix, twistd\n"
            "def refuse(*who): raise PermissionError('no')\n"
            "unix.switchUID = refuse\n"
            "twistd.run()"
        )
        command = [sys.executable, "-c", refusing, "--uid", str(os.getuid())]
        words = ("trafficmock", "--port", "0", "--log-level", "debug")
        done = run(*command, *words, env=HERE, cwd=self.directory)
        self.assertEqual(done.returncode, 1)
        message = r"\Atrafficmock: the daemon ended before it had started; .*\n\Z"
        self.assertRegex(done.stderr, message)
        self.assertIn("failed to set uid", (self.directory / "twistd.log").read_text())


class ReportTests(SynchronousTestCase):
    """The pipe between the daemon and the process that waits for it, without forks."""

    def setUp(self) -> None:
        self.stderr = StringIO()
        self.patch(sys, "__stderr__", self.stderr)
        self.ended: list[int] = []
        self.patch(os, "_exit", self.ended.append)

    def waiting(self, *, born: bool = False) -> tuple[Daemon, Daemon]:
        """Make a daemon's end of a pipe and the one of the process that waits."""
        reader, writer = os.pipe()
        return Daemon(reader, None), Daemon(os.dup(reader) if born else -1, writer)

    def test_success(self) -> None:
        """A start that succeeded lets the first process go on; later failures are its log's."""
        parent, daemon = self.waiting()
        daemon.succeeded()
        daemon.failed("too late for the terminal")
        parent.wait()
        self.assertEqual((self.ended, self.stderr.getvalue()), ([], ""))

    def test_failure(self) -> None:
        """A start that failed ends the first process when the daemon is gone."""
        parent, daemon = self.waiting()
        daemon.failed("no way")
        os.close(daemon.writer or -1)
        parent.wait()
        self.assertEqual((self.ended, self.stderr.getvalue()), ([1], "trafficmock: no way\n"))

    def test_silent_end(self) -> None:
        """A daemon that ends without a word has not started."""
        parent, daemon = self.waiting()
        os.close(daemon.writer or -1)
        parent.wait()
        self.assertEqual(self.ended, [1])
        self.assertIn("ended before it had started", self.stderr.getvalue())

    def test_second_fork(self) -> None:
        """The child of the first fork waits for nobody when it forks again."""
        _, daemon = self.waiting(born=True)
        daemon.born()
        daemon.wait()
        daemon.born()
        daemon.succeeded()
        self.assertEqual(self.ended, [])

    def test_nobody_waits(self) -> None:
        """A daemon whose first process was ended lives on."""
        parent, daemon = self.waiting()
        os.close(parent.reader)
        daemon.succeeded()
        self.assertIsNone(daemon.writer)

    def test_foreground(self) -> None:
        """In the foreground a failure is one line, a success none."""
        Foreground().succeeded()
        Foreground().failed("no way")
        self.assertEqual(self.stderr.getvalue(), "trafficmock: no way\n")


def end(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
