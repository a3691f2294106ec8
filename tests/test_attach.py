"""``trafficmock run`` and ``trafficmock env``."""

import io
import json
import os
import shlex
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from twisted.python import usage
from twisted.trial.unittest import SynchronousTestCase

from trafficmock import attach, cli

PRELOAD = Path("/somewhere/register.js")
NO_OPTIONS = {"proxy-url": None, "token": None, "client-id": None}


class AttachmentTests(SynchronousTestCase):
    """What an application's environment says."""

    def test_variables(self) -> None:
        """URL, token, name and preload are set; what is not given stays unset."""
        full = attach.Attachment(proxy_url="http://x:1", preload=PRELOAD, token="t", client_id="c")
        self.assertEqual(
            full.variables({}),
            {
                "TRAFFICMOCK_PROXY_URL": "http://x:1",
                "TRAFFICMOCK_TOKEN": "t",
                "TRAFFICMOCK_CLIENT_ID": "c",
                "NODE_OPTIONS": '--require "/somewhere/register.js"',
            },
        )
        bare = attach.Attachment(proxy_url="http://x:1", preload=PRELOAD)
        self.assertEqual(sorted(bare.variables({})), ["NODE_OPTIONS", "TRAFFICMOCK_PROXY_URL"])

    def test_node_options_are_kept(self) -> None:
        """The preload is appended to the options that are there, and only once."""
        once = attach.with_preload("--max-old-space-size=99", PRELOAD)
        self.assertEqual(once, '--max-old-space-size=99 --require "/somewhere/register.js"')
        self.assertEqual(attach.with_preload(once, PRELOAD), once)

    def test_quoting(self) -> None:
        """Blanks, quotes and backslashes of a path survive Node's reading of ``NODE_OPTIONS``."""
        path = Path('/a b/c"d/e\\f/register.js')
        self.assertEqual(attach.with_preload("", path), '--require "/a b/c\\"d/e\\\\f/register.js"')

    def test_environment_and_options(self) -> None:
        """Options win over the environment, and the default is the local proxy."""
        self.patch(attach, "find_preload", lambda _start: PRELOAD)
        env = {"TRAFFICMOCK_PROXY_URL": "http://env:1/", "TRAFFICMOCK_TOKEN": "env"}
        found = attach.attachment(NO_OPTIONS, env, Path.cwd())
        self.assertEqual((found.proxy_url, found.token), ("http://env:1", "env"))
        said = {"proxy-url": "http://said:2", "token": "said", "client-id": "me"}
        found = attach.attachment(said, env, Path.cwd())
        self.assertEqual(
            (found.proxy_url, found.token, found.client_id), ("http://said:2", "said", "me")
        )
        self.assertEqual(
            attach.attachment(NO_OPTIONS, {}, Path.cwd()).proxy_url, attach.DEFAULT_PROXY_URL
        )


class PreloadTests(SynchronousTestCase):
    """Where the agent is found."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp())
        self.package = self.root / "site" / "trafficmock"
        self.project = self.root / "project" / "deep"
        self.project.mkdir(parents=True)

    def put(self, place: Path) -> Path:
        place.mkdir(parents=True)
        (place / "register.js").touch()
        return place / "register.js"

    def test_nearest_first(self) -> None:
        """The project's own copy wins over the one that ships with the package."""
        shipped = self.put(self.package / "_agent")
        self.assertEqual(attach.find_preload(self.project, self.package), shipped)
        own = self.put(self.root / "project" / "node_modules" / "trafficmock-agent")
        self.assertEqual(attach.find_preload(self.project, self.package), own)

    def test_checkout(self) -> None:
        """A checkout's agent is used once npm has brought what it needs."""
        preload = self.put(self.root / "site" / "agent")
        self.assertRaises(attach.AttachError, attach.find_preload, self.project, self.package)
        (self.root / "site" / "agent" / "node_modules" / "ws").mkdir(parents=True)
        self.assertEqual(attach.find_preload(self.project, self.package), preload)

    def test_missing(self) -> None:
        """Without any, the error says what to install."""
        error = self.assertRaises(
            attach.AttachError, attach.find_preload, self.project, self.package
        )
        self.assertIn("npm install --save-dev trafficmock-agent", str(error))


class FormatTests(SynchronousTestCase):
    """``trafficmock env``."""

    @given(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF), min_size=1))
    def test_shell(self, value: str) -> None:
        """A shell that reads the text has exactly the values."""
        line = attach.formatted({"NAME": value}, "shell")
        words = shlex.split(line)
        self.assertEqual(words, ["export", f"NAME={value}"])

    def test_json_and_dotenv(self) -> None:
        """JSON is an object, dotenv one quoted line each."""
        variables = {"A": 'x "y"', "B": "it's"}
        self.assertEqual(json.loads(attach.formatted(variables, "json")), variables)
        self.assertEqual(attach.formatted(variables, "dotenv"), "A='x \"y\"'\nB=`it's`\n")

    def test_unknown_format(self) -> None:
        """An unknown format is refused with the known ones."""
        error = self.assertRaises(usage.UsageError, attach.env, ["--format", "xml"])
        self.assertIn("shell, dotenv, json", str(error))


class RunTests(SynchronousTestCase):
    """``trafficmock run``."""

    def setUp(self) -> None:
        self.patch(attach, "find_preload", lambda _start: PRELOAD)

    def test_needs_a_command(self) -> None:
        """Without a command nothing is started."""
        self.assertRaises(usage.UsageError, attach.run, [])

    def test_becomes_the_command(self) -> None:
        """The command gets its own words and the environment."""
        calls: list[tuple[str, list[str], dict[str, str]]] = []
        self.patch(attach, "check_health", lambda _url: None)
        self.patch(os, "execvpe", lambda *call: calls.append(call))
        attach.run(["--client-id", "shop", "--", "node", "server.js", "--port", "1"])
        [(name, words, env)] = calls
        self.assertEqual((name, words), ("node", ["node", "server.js", "--port", "1"]))
        self.assertEqual(env["TRAFFICMOCK_CLIENT_ID"], "shop")
        self.assertEqual(env["PATH"], os.environ["PATH"])

    def test_proxy_not_there(self) -> None:
        """A proxy that does not answer is an error that says how to start one."""
        error = self.assertRaises(attach.AttachError, attach.check_health, "http://127.0.0.1:2")
        self.assertIn("trafficmock serve", str(error))
        self.assertRaises(attach.AttachError, attach.check_health, "ftp://x")

    def test_exit_status(self) -> None:
        """The command line ends with 1 when it cannot be done, with 2 when it was said wrongly."""
        said = io.StringIO()
        self.patch(sys, "stderr", said)
        words = ["run", "--proxy-url", "http://127.0.0.1:2", "--", "true"]
        self.assertEqual(self.assertRaises(SystemExit, cli.main, words).code, 1)
        self.assertEqual(self.assertRaises(SystemExit, cli.main, ["env", "--format", "x"]).code, 2)
        self.assertEqual(len(said.getvalue().splitlines()), 2)
