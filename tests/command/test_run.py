"""``trafficmock run`` and ``trafficmock env``."""

import io
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.command.attach_case import PRELOAD, AttachCase, printed
from tests.support.processes.interrupts import WITH_SIGINT
from tests.support.processes.proxy_process import REPOSITORY, SECONDS
from trafficmock import cli
from trafficmock.attach.rest_probe import AttachError
from trafficmock.command import env as env_command
from trafficmock.command import run
from trafficmock.command.exit_status import CommandError

PROGRAM = """
import os, sys
from trafficmock.command import run
try:
    run.become(sys.argv[1:], dict(os.environ))
except run.CommandStartError as error:
    sys.stderr.write(f"{error}\\n")
    raise SystemExit(error.status)
"""


class RunTests(AttachCase):
    """``trafficmock run``."""

    def test_needs_a_command(self) -> None:
        """Without a command, or with an empty name, nothing is started."""
        for words in ([], ["--"], ["--", ""], ["--", "", "x"]):
            error = self.assertRaises(CommandError, run.main, words)
            self.assertIn("a command is missing", str(error))

    def test_runs_the_command(self) -> None:
        """The command gets its own words and the environment."""
        run.main(["--client-id", "shop", "--", "node", "server.js", "--port", "1"])
        [(name, words, env)] = self.calls
        self.assertEqual((name, words), ("node", ["node", "server.js", "--port", "1"]))
        self.assertEqual(env["TRAFFICMOCK_CLIENT_ID"], "shop")
        self.assertEqual(env["PATH"], os.environ["PATH"])
        self.assertEqual(env["HTTP_PROXY"], "there")
        self.assertIn(str(PRELOAD), env["NODE_OPTIONS"])

    def test_https_proxy(self) -> None:
        """A Python command is not started where it could not be attached; others are."""
        url = ["--proxy-url", "https://proxy.test"]
        error = self.assertRaises(AttachError, run.main, [*url, "--", "python3", "app.py"])
        self.assertIn("need an http:// URL", str(error))
        run.main([*url, "--", "node", "app.js"])
        self.patch(os, "environ", {**os.environ, "TRAFFICMOCK_PYTHON_PRELOAD": "0"})
        run.main([*url, "--", "python3", "app.py"])
        self.assertEqual([name for name, _, _ in self.calls], ["node", "python3"])
        self.assertEqual(self.stderr.getvalue(), "")
        printed(url)
        self.assertEqual(self.stderr.getvalue(), "")
        del os.environ["TRAFFICMOCK_PYTHON_PRELOAD"]
        self.assertIn("HTTP_PROXY", printed(url))
        self.assertIn("Python applications need an http:// URL", self.stderr.getvalue())

    def test_agent_missing(self) -> None:
        """Node needs the agent; what is not Node's runs without it, and nothing is said.

        Nobody knows what is started with the output of ``env``, so that it needs the agent.
        """
        self.without_agent()
        self.assertRaises(AttachError, run.main, ["--", "/usr/bin/node", "a.js"])
        self.assertRaises(AttachError, env_command.main, [])
        self.assertEqual(self.calls, [])
        self.assertIn("NODE_USE_ENV_PROXY", printed(["--no-agent"]))
        run.main(["--", sys.executable, "app.py"])
        run.main(["--", "true"])
        self.assertEqual(len(self.calls), 2)
        self.assertEqual(self.stderr.getvalue(), "")

    def test_agent_missing_for_a_launcher(self) -> None:
        """A command that is likely to start Node runs, and the missing agent is named once."""
        self.without_agent()
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        for name, text in (("node", ""), ("start", "#!/bin/sh\nnode server.js\n")):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        self.patch(os, "environ", {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        for words in (["make", "serve"], ["start"]):
            self.stderr.truncate(self.stderr.seek(0))
            run.main(["--", *words])
            self.assertEqual(
                self.stderr.getvalue(), "trafficmock: for Node applications no agent\n"
            )

    def test_no_node(self) -> None:
        """Where Node is not installed, nothing is said of its agent."""
        self.without_agent()
        self.patch(os, "environ", {**os.environ, "PATH": "/nowhere"})
        run.main(["--", "make", "serve"])
        self.assertEqual(self.stderr.getvalue(), "")

    def test_near_misses(self) -> None:
        """An unknown option is named with the nearest; the command keeps its own."""
        error = self.assertRaises(CommandError, run.main, ["--cleint-id", "x", "--", "node"])
        self.assertIn("unknown option '--cleint-id', did you mean --client-id?", str(error))
        error = self.assertRaises(CommandError, run.main, ["--hepl", "--", "node"])
        self.assertEqual(str(error).count("--help"), 1)
        run.main(["node", "--cleint-id", "--", "x"])
        self.assertEqual(self.calls[0][1], ["node", "--cleint-id", "--", "x"])


class BecomeTests(SynchronousTestCase):
    """The process is the command from its start: same pid, streams, signals and terminal."""

    def start(self, *command: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start a command.

        :param before: words to put before its command line.
        """
        pipe = subprocess.PIPE
        words = [*before, sys.executable, "-c", PROGRAM, *command]
        process = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY
        )
        self.addCleanup(process.__exit__, None, None, None)
        self.addCleanup(process.kill)
        return process

    def ended(self, *command: str) -> tuple[int, str, str]:
        """Run a command; give its exit status, what it wrote, and its errors."""
        process = self.start(*command)
        written, message = process.communicate("words\n", timeout=SECONDS)
        return process.returncode, written, message

    def test_status_and_streams(self) -> None:
        """The exit status and the streams are the command's."""
        for status in (0, 7, 255):
            script = f"read line; echo got $line; echo err >&2; exit {status}"
            self.assertEqual(self.ended("sh", "-c", script), (status, "got words\n", "err\n"))

    def test_signal(self) -> None:
        """A signal to the process is one to the command, and so is the end by it."""
        process = self.start("sh", "-c", "trap 'echo $$; trap - TERM; kill $$' TERM; echo; read x")
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        written, message = process.communicate("\n", timeout=SECONDS)
        ended = (process.returncode, written, message)
        self.assertEqual(ended, (-signal.SIGTERM, f"{process.pid}\n", ""))

    def test_broken_pipe(self) -> None:
        """The command is ended by SIGPIPE, although Python ignores it."""
        for name in ("PIPE", "XFSZ"):
            status, written, _ = self.ended("sh", "-c", f"ulimit -c 0; kill -{name} $$; echo on")
            self.assertEqual((-status, written), (signal.Signals[f"SIG{name}"], ""))

    def test_nohup(self) -> None:
        """A signal that the caller ignores is ignored by the command."""
        before = ("sh", "-c", "trap '' HUP; exec \"$@\"", "sh")
        process = self.start("sh", "-c", "kill -HUP $$; echo on", before=before)
        self.assertEqual(process.communicate(timeout=SECONDS), ("on\n", ""))

    def test_terminal(self) -> None:
        """In the foreground of a terminal the command reads from it, and Ctrl-C interrupts it."""
        # It reads again before it ends: the end of a session may discard what was written.
        script = "trap 'echo interrupted; read line; exit 3' INT; read line; echo got $line; read x"
        words = [*WITH_SIGINT, sys.executable, "-c", PROGRAM, "sh", "-c", script]
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(REPOSITORY)
            # So the test fails, instead of waiting for ever, where the command does not end.
            signal.alarm(int(SECONDS))
            os.execv(words[0], words)  # noqa: S606 - the point
        self.addCleanup(os.close, terminal)
        os.write(terminal, b"words\n")
        shown = b""
        while b"got words" not in shown:
            shown += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        while b"interrupted" not in shown:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 4096)
            else:
                # The shell was about to read, and then thinks of the first one at the next one.
                os.write(terminal, b"\x03")
        os.write(terminal, b"bye\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3)

    def test_cannot_be_started(self) -> None:
        """A command that cannot be started ends as in a shell, with one line."""
        plain = Path(self.mktemp()).absolute()
        plain.write_text("#!/bin/sh\n")
        for command, status, message in (
            ("no-such-command", 127, "no-such-command: command not found\n"),
            (f"{plain}/x", 127, f"{plain}/x: command not found\n"),
            (str(plain), 126, f"{plain}: Permission denied\n"),
            ("/", 126, "/: Permission denied\n"),
        ):
            self.assertEqual(self.ended(command), (status, "", message))


class ExitTests(SynchronousTestCase):
    """The command line's end."""

    def test_exit_status(self) -> None:
        """The command line ends with 1 when it cannot be done, with 2 when it was said wrongly."""
        message = io.StringIO()
        self.patch(sys, "stderr", message)
        words = ["run", "--no-agent", "--proxy-url", "nowhere", "--", "true"]
        self.assertEqual(self.assertRaises(SystemExit, cli.main, words).code, 1)
        self.assertEqual(self.assertRaises(SystemExit, cli.main, ["env", "--format", "x"]).code, 2)
        self.assertEqual(len(message.getvalue().splitlines()), 2)
