"""The options of ``twistd -n trafficmock``."""

import sys
from io import StringIO
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.core.settings import Settings
from trafficmock.http.http_limits import HttpLimits
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.server.options import ProxyOptions
from trafficmock.server.websocket.link import WebSocketLimits

DEFAULTS: dict[str, Any] = {
    "host": "127.0.0.1",
    "port": 4310,
    "endpoint": None,
    "token": None,
    "ca-dir": None,
    "history-limit": 1000,
    "ws-history-limit": 200,
    "history-bytes": 134217728,
    "history-body-bytes": 8388608,
    "history-capture": "all",
    "claim-timeout-ms": 5000,
    "heartbeat-ms": 15000,
    "idle-timeout-ms": 60000,
    "hello-timeout-ms": 10000,
    "strict-quiet-ms": 5000,
    "body-timeout-ms": 20000,
    "ownership": "direct",
    "reply-bytes": 268435456,
    "recording-bytes": 268435456,
    "local": "on",
    "handler-body-bytes": 67108864,
    "max-frame-bytes": 104857600,
    "max-header-bytes": 65536,
    "max-connections": 2000,
    "send-queue-bytes": 67108864,
    "connect-timeout-ms": 10000,
    "upstream-timeout-ms": 120000,
    "abort-hold-ms": 30000,
    "upstream-proxy": None,
    "otlp-endpoint": None,
    "ready-file": None,
    "log-level": "info",
    "insecure": 0,
    "strict": 0,
    "redact-history": 0,
    "open-history": 0,
    "log-json": 0,
    "allowed-host": [],
    "cors-origin": [],
    "own-host": [],
    "allow": [],
    "tunnel": [],
    "upstream-ca": [],
    "upstream-insecure": [],
    "resolve": [],
    "redact": [],
    "logfile": None,
}

NAMES = [f"--{name}" for name in DEFAULTS]

BAD = [
    (["--port", "http"], "--port must be a whole number, 0 to 65535, not 'http'"),
    (["--port", "65536"], "--port must be a whole number, 0 to 65535, not '65536'"),
    (["--port", "-1"], "--port must be a whole number, 0 to 65535, not '-1'"),
    (["--port", ""], "--port must be a whole number, 0 to 65535, not ''"),
    (["--port", "\u0663"], "--port must be a whole number, 0 to 65535, not '\u0663'"),
    (["--history-limit", "0"], "--history-limit must be a whole number, 1 or more, not '0'"),
    (["--claim-timeout-ms", "1.5"], "--claim-timeout-ms must be a whole number, 1 or more"),
    (["--history-capture", "some"], "--history-capture must be one of all, handled, none"),
    (["--ownership", "ask"], "--ownership must be one of direct, always-ask, not 'ask'"),
    (["--log-level", "loud"], "--log-level must be one of silent, error, warn, info, debug"),
    (["--redact", "x-customer"], "--redact: 'x-customer' is none of header:NAME"),
    (["--redact", "off", "--redact", "json:a"], "--redact: off goes with no other field"),
    (["--redact", "off", "--redact-history"], "--redact-history redacts, and --redact off does"),
    (["--token", ""], "--token must be not empty"),
    (["--host", ""], "--host must be not empty"),
    (["--allowed-host", ""], "--allowed-host must be not empty"),
    (
        ["--upstream-proxy", "socks://h"],
        "--upstream-proxy must be an address like http://host:port",
    ),
    (["--upstream-ca", "/nowhere"], "--upstream-ca must be a readable PEM file, not '/nowhere'"),
    (
        ["--resolve", "h:1"],
        "--resolve must be HOST:PORT:ADDRESS, with an IPv6 host in brackets, not 'h:1'",
    ),
    (["--tunnel", ""], "--tunnel must be not empty"),
    (["--own-host", ""], "--own-host must be not empty"),
    (["--strict", "--allow", ""], "--allow must be not empty"),
    (["--strict", "--allow", "::1::"], "--allow: the pattern '::1::' is no host: write an IPv6"),
    (["--allow", "auth.example"], "--allow is for --strict: give both, or neither"),
    (["--cors-origin", ""], "--cors-origin must be not empty"),
    (
        ["--own-host", "http://shop.test"],
        "--own-host: the pattern 'http://shop.test' is no host",
    ),
    (["--token"], "option --token requires argument"),
    (["--histroy-limit", "5"], "option --histroy-limit not recognized"),
    (["4310"], "unknown argument '4310'; options begin with --"),
]


class SettingsTests(SynchronousTestCase):
    """Options set the settings of their names."""

    def test_defaults(self) -> None:
        """An option that is not given leaves its setting as it is without options."""
        options = ProxyOptions()
        options.parseOptions([])
        made = Settings(version="1", **options.settings_of(Settings))
        self.assertEqual(made, Settings(version="1"))
        self.assertEqual(HttpLimits(**options.settings_of(HttpLimits)), HttpLimits())
        self.assertEqual(WebSocketLimits(**options.settings_of(WebSocketLimits)), WebSocketLimits())
        self.assertEqual(ProxySettings(**options.settings_of(ProxySettings)), ProxySettings())

    def test_given(self) -> None:
        """Milliseconds become seconds; one option may set several settings."""
        options = ProxyOptions()
        options.parseOptions(["--claim-timeout-ms", "1500", "--max-frame-bytes", "7"])
        made = Settings(version="1", **options.settings_of(Settings))
        self.assertEqual((made.claim_timeout, made.frame_bytes), (1.5, 7))
        self.assertEqual(options.settings_of(WebSocketLimits)["max_frame_bytes"], 7)
        self.assertEqual(options.settings_of(ProxySettings)["max_frame_bytes"], 7)


class OptionsTestCase(SynchronousTestCase):
    """Parses without the environment of whoever runs the tests."""

    def setUp(self) -> None:
        self.stderr, self.stdout = StringIO(), StringIO()
        self.patch(sys, "stderr", self.stderr)
        self.patch(sys, "stdout", self.stdout)
        self.environ: dict[str, str] = {}
        self.patch(sys.modules["trafficmock.server.options"].os, "environ", self.environ)

    def parsed(self, *words: str) -> ProxyOptions:
        options = ProxyOptions()
        options.parseOptions(list(words))
        return options

    def refused(self, *words: str) -> str:
        """Parse what must be refused; give what was written to stderr."""
        self.stderr.seek(0)
        self.stderr.truncate()
        ended = self.assertRaises(SystemExit, self.parsed, *words)
        self.assertEqual(ended.code, 1)
        return self.stderr.getvalue()


class ValueTests(OptionsTestCase):
    """Values and what they may be."""

    def test_defaults(self) -> None:
        """Without options every default is the documented one."""
        self.assertEqual(dict(self.parsed()), DEFAULTS)

    def test_near_misses(self) -> None:
        """An unknown option is named with the one that may be meant, where there is one."""
        said = "trafficmock: option --prot not recognized; did you mean --port?\n"
        self.assertEqual(self.refused("--prot", "1"), said)
        self.assertEqual(self.refused("--xyzzy"), "trafficmock: option --xyzzy not recognized\n")

    def test_given(self) -> None:
        """A value may be a word of its own or follow an equals sign."""
        options = self.parsed("--port=0", "--history-capture", "none")
        self.assertEqual((options["port"], options["history-capture"]), (0, "none"))

    def test_repeatable(self) -> None:
        """Host names and origins may be given more than once."""
        options = self.parsed("--allowed-host", "a.test", "--allowed-host=b.test")
        self.assertEqual(options["allowed-host"], ["a.test", "b.test"])
        options = self.parsed("--cors-origin", "http://a.test", "--cors-origin=*")
        self.assertEqual(options["cors-origin"], ["http://a.test", "*"])

    def test_bad(self) -> None:
        """A bad value ends with one line that says what is allowed, and status 1."""
        for words, expected in BAD:
            message = self.refused(*words)
            self.assertTrue(message.startswith(f"trafficmock: {expected}"), (words, message))
            self.assertEqual(message.count("\n"), 1, message)

    def test_version(self) -> None:
        """``--version`` names the program and its version."""
        ended = self.assertRaises(SystemExit, self.parsed, "--version")
        self.assertEqual(ended.code, 0)
        self.assertRegex(self.stdout.getvalue(), r"\Atrafficmock \d+\.\d+\.\d+\n\Z")

    @given(st.lists(st.sampled_from(NAMES) | st.text(max_size=30), max_size=4))
    def test_anything(self, words: list[str]) -> None:
        """Whatever the words, parsing succeeds or exits; it never raises anything else."""
        try:
            self.parsed(*words)
        except SystemExit as ended:
            self.assertIn(ended.code, (0, 1, None))


class TokenTests(OptionsTestCase):
    """A token need not stand in the list of processes."""

    def test_environment(self) -> None:
        """TRAFFICMOCK_TOKEN is the token when there is no option."""
        self.environ["TRAFFICMOCK_TOKEN"] = "secret"
        self.assertEqual(self.parsed()["token"], "secret")

    def test_option_wins(self) -> None:
        """The option counts where both are given."""
        self.environ["TRAFFICMOCK_TOKEN"] = "secret"
        self.assertEqual(self.parsed("--token", "other")["token"], "other")

    def test_empty(self) -> None:
        """An empty variable is a mistake, not the absence of a token."""
        self.environ["TRAFFICMOCK_TOKEN"] = ""
        self.assertIn("TRAFFICMOCK_TOKEN must be not empty, or not set", self.refused())


class TwistdTests(OptionsTestCase):
    """What the options settle for the twistd around them."""

    def settled(self, **given: Any) -> tuple[str, str | None]:
        """Parse below a twistd with these options; give its pid file, and our log file."""
        usual = {"nodaemon": True, "pidfile": "twistd.pid", "syslog": 0, "logfile": None}
        parent: dict[str, Any] = usual | given
        options = ProxyOptions()
        options.parent = parent  # type: ignore[assignment] # only its mapping is used
        options.parseOptions([])
        return parent["pidfile"], options["logfile"]

    def test_foreground(self) -> None:
        """In the foreground there is no pid file, so that two run in one directory."""
        self.assertEqual(self.settled(), ("", "-"))

    def test_daemon(self) -> None:
        """A daemon has a pid file and a log file."""
        self.assertEqual(self.settled(nodaemon=False), ("twistd.pid", "twistd.log"))

    def test_wanted(self) -> None:
        """Files that were asked for are taken."""
        found = self.settled(pidfile="own.pid", logfile="own.log")
        self.assertEqual(found, ("own.pid", "own.log"))

    def test_syslog(self) -> None:
        """Who wants syslog gets no file of ours."""
        self.assertEqual(self.settled(syslog=1), ("", None))
