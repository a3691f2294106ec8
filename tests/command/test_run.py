"""``trafficmock run`` and ``trafficmock env``."""

import io
import os
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.command.attach_case import PRELOAD, AttachCase, printed
from trafficmock import cli
from trafficmock.attach.rest_probe import AttachError
from trafficmock.command import env as env_command
from trafficmock.command import run
from trafficmock.command.exit_status import CommandError


class RunTests(AttachCase):
    """``trafficmock run``."""

    def test_needs_a_command(self) -> None:
        """Without a command nothing is started."""
        self.assertRaises(CommandError, run.main, [])

    def test_stop_timeout(self) -> None:
        """What the command leaves behind has five seconds, or what is said."""
        for words, seconds in (([], 5.0), (["--stop-timeout-ms", "250"], 0.25)):
            run.main([*words, "--", "python"])
            self.assertEqual(self.stop_seconds, seconds)
        wrong = ["--stop-timeout-ms", "soon", "--", "python"]
        error = self.assertRaises(CommandError, run.main, wrong)
        self.assertIn(
            "argument --stop-timeout-ms: a whole number, 0 or more, not 'soon'", str(error)
        )

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
