"""``trafficmock env``, and what it shares with ``trafficmock run``."""

import json
import os
import shlex

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.command.attach_case import PRELOAD, AttachCase, printed
from trafficmock.attach import node
from trafficmock.command import env, run
from trafficmock.command.exit_status import CommandError
from trafficmock.testing.launch import proxy_process


class FormatTests(SynchronousTestCase):
    """``trafficmock env``."""

    @given(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF), min_size=1))
    def test_shell(self, value: str) -> None:
        """A shell that reads the text has exactly the values."""
        line = env.formatted({"NAME": value}, "shell")
        words = shlex.split(line)
        self.assertEqual(words, ["export", f"NAME={value}"])

    def test_json_and_dotenv(self) -> None:
        """JSON is an object, dotenv one quoted line each."""
        variables = {"A": 'x "y"', "B": "it's"}
        self.assertEqual(json.loads(env.formatted(variables, "json")), variables)
        self.assertEqual(env.formatted(variables, "dotenv"), "A='x \"y\"'\nB=`it's`\n")

    def test_unknown_format(self) -> None:
        """An unknown format is refused with the known ones."""
        error = self.assertRaises(CommandError, env.main, ["--format", "xml"])
        self.assertRegex(str(error), r"--format.*'xml'.*shell.*dotenv.*json")


class AttachOptionTests(AttachCase):
    """Both commands attach an application in the same way."""

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
