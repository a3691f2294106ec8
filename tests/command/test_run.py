"""``trafficmock run`` and ``trafficmock env``."""

import contextlib
import io
import json
import os
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock import cli
from trafficmock.attach import environment, node
from trafficmock.attach.rest_probe import AttachError
from trafficmock.command import attach_options, run
from trafficmock.command import env as env_command
from trafficmock.command.exit_status import CommandError
from trafficmock.testing.launch import proxy_process

PRELOAD = Path("/somewhere/register.js")


def printed(words: list[str]) -> str:
    """Give what ``trafficmock env`` prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        env_command.main(words)
    return output.getvalue()


class RunTests(SynchronousTestCase):
    """``trafficmock run``."""

    def setUp(self) -> None:
        self.stderr = io.StringIO()
        self.patch(sys, "stderr", self.stderr)
        self.patch(attach_options, "find_preload", lambda _start: PRELOAD)
        self.patch(run, "check_health", lambda _url: None)
        self.patch(run, "check_welcome", lambda _address: None)
        self.patch(environment, "forward_variables", lambda *_: {"HTTP_PROXY": "there"})
        self.calls: list[tuple[str, list[str], dict[str, str]]] = []

        def run_command(command: list[str], env: dict[str, str], stop_seconds: float) -> None:
            self.calls.append((command[0], command, env))
            self.stop_seconds = stop_seconds

        self.patch(run, "run_command", run_command)

    def without_agent(self) -> None:
        def find_preload(_start: Path) -> Path:
            raise AttachError("no agent")

        self.patch(attach_options, "find_preload", find_preload)

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

    def test_one_answer(self) -> None:
        """``run``, ``env`` and the test side attach an application in the same way."""
        self.patch(node, "find_preload", lambda _start: PRELOAD)
        run.main(["--client-id", "shop", "--proxy-url", "http://there:1", "--", "node"])
        [(_, _, by_run)] = self.calls
        by_env = printed(
            ["--client-id", "shop", "--proxy-url", "http://there:1", "--format", "json"]
        )
        by_fixture = proxy_process.Proxy("http://there:1").environment("shop")
        self.assertEqual(by_fixture, by_run)
        self.assertEqual({**os.environ, **json.loads(by_env)}, by_run)

    def test_npm_variables(self) -> None:
        """The npm packages' variables say where the proxy is, as ours do."""
        theirs = {
            "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL": "http://npm:1",
            "PLAYWRIGHT_BACKEND_MOCKS_TOKEN": "t",
        }
        self.patch(os, "environ", {"PATH": os.environ["PATH"], **theirs})
        run.main(["--", "node"])
        [(_, _, env)] = self.calls
        self.assertEqual(env["TRAFFICMOCK_PROXY_URL"], "http://npm:1")
        self.assertEqual(env["TRAFFICMOCK_TOKEN"], "t")
        self.assertIn("'http://npm:1'", printed(["--format", "dotenv"]))

    def test_no_agent(self) -> None:
        """Node goes through the proxy when it is told to, whether the agent is there or not."""
        run.main(["--no-agent", "--", "node"])
        [(_, _, env)] = self.calls
        self.assertEqual(env["NODE_USE_ENV_PROXY"], "1")
        self.assertNotIn(str(PRELOAD), env.get("NODE_OPTIONS", ""))

    def test_agent_missing(self) -> None:
        """Node needs the agent; what is not Node's runs without it, and nothing is said.

        Nobody knows what is started with the output of ``env``, so that it needs the agent.
        """
        self.without_agent()
        self.assertRaises(AttachError, run.main, ["--", "/usr/bin/node", "a.js"])
        self.assertRaises(AttachError, env_command.main, [])
        self.assertEqual(self.calls, [])
        self.assertIn("NODE_USE_ENV_PROXY", printed(["--no-agent"]))
        run.main(["--", "python", "app.py"])
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
