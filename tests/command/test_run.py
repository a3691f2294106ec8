"""``trafficmock run`` and ``trafficmock env``."""

import io
import json
import os
import sys
from pathlib import Path

from twisted.python import usage
from twisted.trial.unittest import SynchronousTestCase

from trafficmock import cli
from trafficmock.attach import environment, node
from trafficmock.attach.rest_probe import AttachError
from trafficmock.command import attach_options, run
from trafficmock.command import env as env_command
from trafficmock.testing.launch import proxy_process

PRELOAD = Path("/somewhere/register.js")


class RunTests(SynchronousTestCase):
    """``trafficmock run``."""

    def setUp(self) -> None:
        self.said = io.StringIO()
        self.patch(sys, "stderr", self.said)
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
        self.assertRaises(usage.UsageError, run.run, [])

    def test_stop_timeout(self) -> None:
        """What the command leaves behind has five seconds, or what is said."""
        for words, seconds in (([], 5.0), (["--stop-timeout-ms", "250"], 0.25)):
            run.run([*words, "--", "python"])
            self.assertEqual(self.stop_seconds, seconds)
        wrong = ["--stop-timeout-ms", "soon", "--", "python"]
        error = self.assertRaises(usage.UsageError, run.run, wrong)
        self.assertIn("--stop-timeout-ms must be a whole number, 0 or more", str(error))

    def test_runs_the_command(self) -> None:
        """The command gets its own words and the environment."""
        run.run(["--client-id", "shop", "--", "node", "server.js", "--port", "1"])
        [(name, words, env)] = self.calls
        self.assertEqual((name, words), ("node", ["node", "server.js", "--port", "1"]))
        self.assertEqual(env["TRAFFICMOCK_CLIENT_ID"], "shop")
        self.assertEqual(env["PATH"], os.environ["PATH"])
        self.assertEqual(env["HTTP_PROXY"], "there")
        self.assertIn(str(PRELOAD), env["NODE_OPTIONS"])

    def test_one_answer(self) -> None:
        """``run``, ``env`` and the test side attach an application in the same way."""
        self.patch(node, "find_preload", lambda _start: PRELOAD)
        run.run(["--client-id", "shop", "--proxy-url", "http://there:1", "--", "node"])
        [(_, _, by_run)] = self.calls
        by_env = env_command.env(
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
        run.run(["--", "node"])
        [(_, _, env)] = self.calls
        self.assertEqual(env["TRAFFICMOCK_PROXY_URL"], "http://npm:1")
        self.assertEqual(env["TRAFFICMOCK_TOKEN"], "t")
        self.assertIn("'http://npm:1'", env_command.env(["--format", "dotenv"]))

    def test_no_agent(self) -> None:
        """Node goes through the proxy when it is told to, whether the agent is there or not."""
        run.run(["--no-agent", "--", "node"])
        [(_, _, env)] = self.calls
        self.assertEqual(env["NODE_USE_ENV_PROXY"], "1")
        self.assertNotIn(str(PRELOAD), env.get("NODE_OPTIONS", ""))

    def test_agent_missing(self) -> None:
        """Who is no Node application does without the agent; who is one is told.

        Nobody knows what is started with the output of ``env``, so that it needs the agent.
        """
        self.without_agent()
        self.assertRaises(AttachError, run.run, ["--", "/usr/bin/node", "a.js"])
        self.assertRaises(AttachError, env_command.env, [])
        self.assertEqual(self.calls, [])
        self.assertIn("NODE_USE_ENV_PROXY", env_command.env(["--no-agent"]))
        run.run(["--", "python", "app.py"])
        self.assertEqual(len(self.calls), 1)
        self.assertEqual(self.said.getvalue(), "trafficmock: for Node applications no agent\n")


class ExitTests(SynchronousTestCase):
    """The command line's end."""

    def test_exit_status(self) -> None:
        """The command line ends with 1 when it cannot be done, with 2 when it was said wrongly."""
        said = io.StringIO()
        self.patch(sys, "stderr", said)
        words = ["run", "--no-agent", "--proxy-url", "nowhere", "--", "true"]
        self.assertEqual(self.assertRaises(SystemExit, cli.main, words).code, 1)
        self.assertEqual(self.assertRaises(SystemExit, cli.main, ["env", "--format", "x"]).code, 2)
        self.assertEqual(len(said.getvalue().splitlines()), 2)
