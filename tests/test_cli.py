"""The command ``trafficmock``, and the process that every way of starting it makes."""

import contextlib
import json
import os
import signal
import sys
from io import StringIO
from pathlib import Path
from typing import Any

from twisted.scripts import twistd
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import TWISTD, run, running_proxy
from trafficmock import __version__, cli

SERVE = [sys.executable, "-m", "trafficmock", "serve"]


class WordTests(SynchronousTestCase):
    """The words after the command's name."""

    def setUp(self) -> None:
        self.stdout, self.stderr = StringIO(), StringIO()
        self.patch(sys, "stdout", self.stdout)
        self.patch(sys, "stderr", self.stderr)
        self.ran: list[list[str]] = []
        self.patch(sys, "argv", ["trafficmock"])
        self.patch(os, "environ", {**os.environ, "COLUMNS": "80"})
        self.patch(twistd, "run", lambda: self.ran.append(sys.argv))

    def test_serve(self) -> None:
        """``serve`` is twistd in the foreground, with the options handed on."""
        cli.main(["serve", "--port", "0"])
        self.assertEqual(self.ran, [["trafficmock", "--nodaemon", "trafficmock", "--port", "0"]])

    def test_version(self) -> None:
        """``--version`` names the program and its version."""
        cli.main(["--version"])
        self.assertEqual(self.stdout.getvalue(), f"trafficmock {__version__}\n")

    def test_help(self) -> None:
        """``--help`` lists every command on one line that fits a terminal."""
        for word in ("--help", "-h", "help"):
            cli.main([word])
        lines = self.stdout.getvalue().splitlines()
        for name, command in cli.COMMANDS.items():
            self.assertEqual(lines.count(f"  {name:<11} {command.summary}"), 3)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_every_help(self) -> None:
        """Each command explains itself under its own name, with examples or an explanation."""
        for name in cli.COMMANDS:
            self.stdout.seek(self.stdout.truncate(0))
            with contextlib.suppress(SystemExit):
                cli.main([name, "--help"])
            message = self.stdout.getvalue()
            self.assertRegex(message, rf"(?i)usage: trafficmock {name}\b", name)
            self.assertNotIn("twistd", message)
            self.assertEqual([line for line in message.splitlines() if len(line) > 80], [], name)
            self.assertEqual(self.stderr.getvalue(), "")
        self.assertEqual(self.ran, [])

    def test_unknown(self) -> None:
        """A wrong command ends with status 2 and one line that names what may be meant."""
        see = "`trafficmock --help` lists the commands"
        for word, meant in (("sevre", "serve"), ("histroy", "history"), ("xyzzy", None)):
            near = f"did you mean {meant!r}? " if meant else ""
            ended = self.assertRaises(SystemExit, cli.main, [word])
            self.assertEqual(ended.code, 2)
            message = self.stderr.getvalue().splitlines()[-1]
            self.assertEqual(message, f"trafficmock: unknown command {word!r}; {near}{see}")
        self.assertEqual(len(self.stderr.getvalue().splitlines()), 3)

    def test_missing(self) -> None:
        """Without a command there is the usage, and what is wrong stands at its end."""
        self.assertEqual(self.assertRaises(SystemExit, cli.main, []).code, 2)
        first, *_, last = self.stderr.getvalue().splitlines()
        self.assertEqual(first, "Usage: trafficmock COMMAND [options]")
        self.assertEqual(last, "trafficmock: a command is missing")


class ProcessTests(SynchronousTestCase):
    """Commands as processes."""

    def test_quick(self) -> None:
        """Commands that read a proxy start without Twisted and what comes with it."""
        heavy = ("twisted", "autobahn", "klein", "zope", "asyncio", "argcomplete")
        program = (
            "import sys; before = set(sys.modules); from trafficmock import cli\n"
            "try: cli.main(['status', '--proxy-url', 'http://127.0.0.1:2'])\n"
            f"finally: print([name for name in {heavy} if name in set(sys.modules) - before])"
        )
        done = run(sys.executable, "-c", program)
        self.assertEqual((done.returncode, done.stdout), (3, "[]\n"))

    def test_reader_gone(self) -> None:
        """When whoever reads the output goes away, that ends the command without a traceback."""
        pipe = f"set -o pipefail; '{sys.executable}' -m trafficmock --help | true; echo $?"
        for _ in range(3):
            done = run("/bin/bash", "-c", pipe)
            self.assertIn(done.stdout, ("0\n", "141\n"))
            self.assertEqual(done.stderr, "")

    def test_output_fails(self) -> None:
        """What cannot be written ends with a line that says why; a closed output without one."""
        for redirect, expected in ((">/dev/full", "4\n"), (">&-", "0\n")):
            command = f"{sys.executable} -m trafficmock --help {redirect}; echo $? >&2"
            done = run("/bin/sh", "-c", command)
            self.assertTrue(done.stderr.endswith(expected), done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        full = run("/bin/sh", "-c", f"{sys.executable} -m trafficmock --help >/dev/full")
        self.assertIn("the output cannot be written: No space left on device\n", full.stderr)


class StartTests(SynchronousTestCase):
    """Starts as a user sees them."""

    def test_every_way(self) -> None:
        """``python -m trafficmock serve`` serves just as ``twistd -n trafficmock`` does."""
        for command in ([*TWISTD, "-n", "trafficmock"], SERVE):
            with running_proxy(command=command) as running:
                health = running.get("/health")
            self.assertEqual(
                health,
                {
                    "ok": True,
                    "version": __version__,
                    "protocolVersion": 3,
                    "historyCapture": "all",
                },
            )

    def test_two_in_one_directory(self) -> None:
        """Two instances run side by side in one directory, and leave nothing there."""
        directory = Path(self.mktemp())
        directory.mkdir()
        command = [sys.executable, "-m", "trafficmock", "serve"]
        with (
            running_proxy(command=command, cwd=directory, env=HERE) as one,
            running_proxy(command=command, cwd=directory, env=HERE) as other,
        ):
            self.assertNotEqual(one.url, other.url)
            self.assertTrue(one.get("/health")["ok"])
            self.assertTrue(other.get("/health")["ok"])
        self.assertEqual(list(directory.iterdir()), [])

    def test_banner(self) -> None:
        """At start the addresses that people need are shown, and never the token."""
        with running_proxy("--token", "hush-hush", "--history-capture", "handled") as running:
            pass
        message = running.last_words
        port = running.url.rpartition(":")[2]
        self.assertIn(f"trafficmock {__version__} listens on http://127.0.0.1:{port}", message)
        self.assertIn(f"ws://127.0.0.1:{port}/ws", message)
        self.assertIn("/api/history (capture: handled)", message)
        self.assertIn("token: required", message)
        self.assertNotIn("hush-hush", message)

    def test_silent(self) -> None:
        """With ``--log-level silent`` nothing is written from start to end."""
        with running_proxy("--log-level", "silent") as running:
            running.get("/health")
        self.assertEqual(running.last_words, "")

    def test_json_log(self) -> None:
        """With ``--log-json`` each line of the log is JSON."""
        with running_proxy("--log-json") as running:
            pass
        lines = [json.loads(line) for line in running.last_words.replace("\x1e", "").splitlines()]
        self.assertIn("trafficmock", {line["log_namespace"].split(".")[0] for line in lines})

    def test_token_from_environment(self) -> None:
        """TRAFFICMOCK_TOKEN is a token, so listening beyond loopback is allowed."""
        with running_proxy("--host", "0.0.0.0", env={"TRAFFICMOCK_TOKEN": "secret"}) as running:  # noqa: S104 - the point
            self.assertTrue(running.get("/health")["ok"])

    def test_ipv6(self) -> None:
        """An IPv6 address is listened on, and shown in brackets."""
        with running_proxy("--host", "::1") as running:
            self.assertTrue(running.url.startswith("http://[::1]:"))
            self.assertTrue(running.get("/health")["ok"])


class FailureTests(SynchronousTestCase):
    """Starts that fail: one line on stderr, status 1."""

    def check(self, *options: str, message: str, every_way: bool = DEEP, **keywords: Any) -> None:
        for command in ([*TWISTD, "-n", "trafficmock"], SERVE)[0 if every_way else 1 :]:
            done = run(*command, *options, **keywords)
            self.assertEqual(done.returncode, 1, done)
            self.assertRegex(done.stderr, rf"\Atrafficmock: {message}.*\n\Z")

    def test_bad_value(self) -> None:
        """A bad value is named, with what is allowed, at every way of starting."""
        message = "--port must be a whole number, 0 to 65535, not 'x'"
        self.check("--port", "x", message=message, every_way=True)

    def test_bad_endpoint(self) -> None:
        """An endpoint that Twisted does not know is named."""
        self.check("--endpoint", "carrier-pigeon:1", message="--endpoint 'carrier-pigeon:1' cannot")

    def test_port_in_use(self) -> None:
        """A port that is taken is named."""
        with running_proxy() as running:
            port = running.url.rpartition(":")[2]
            self.check("--port", port, message=f"cannot listen: .*127.0.0.1:{port}.*in use")

    def test_beyond_loopback(self) -> None:
        """Listening beyond loopback without a token is refused."""
        message = "refusing to listen on .* --insecure"
        self.check("--host", "0.0.0.0", "--port", "0", message=message)  # noqa: S104 - the point

    def test_empty_token(self) -> None:
        """An empty token is no token, and not a way to have none."""
        self.check(env={"TRAFFICMOCK_TOKEN": ""}, message="TRAFFICMOCK_TOKEN must be not empty")


class EndTests(SynchronousTestCase):
    """The end of the process."""

    def test_signals(self) -> None:
        """SIGTERM and SIGINT end it with status 0."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with running_proxy() as running:
                # The ready file is written before the reactor runs and takes signals.
                self.assertTrue(running.get("/health")["ok"])
                running.process.send_signal(number)
                self.assertEqual(running.process.wait(20), 0)


HERE = {"PYTHONPATH": str(Path(__file__).parents[1])}
"""Finds the checkout from other directories."""
