"""The options of ``twistd -n trafficmock-dashboard``."""

import os
import sys
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.dashboard.dashboard_options import DashboardOptions, proxy_url


class OptionsTests(SynchronousTestCase):
    """Defaults, values and refusals."""

    def setUp(self) -> None:
        self.stderr = StringIO()
        self.patch(sys, "stderr", self.stderr)
        self.patch(os, "environ", {})

    def parse(self, *words: str) -> DashboardOptions:
        options = DashboardOptions()
        options.parseOptions(list(words))
        return options

    def test_defaults(self) -> None:
        """By default it listens on loopback, port 4311, and shows the proxy's default address."""
        options = self.parse()
        self.assertEqual((options["host"], options["port"]), ("127.0.0.1", 4311))
        self.assertEqual(options["proxy-url"], "http://127.0.0.1:4310")
        self.assertEqual(options["allowed-host"], [])

    def test_environment(self) -> None:
        """A variable, ours or the npm packages', names the proxy, unless the option does."""
        os.environ["PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL"] = "http://npm.test:1/"
        self.assertEqual(self.parse()["proxy-url"], "http://npm.test:1")
        os.environ["TRAFFICMOCK_PROXY_URL"] = "http://proxy.test:1/"
        self.assertEqual(self.parse()["proxy-url"], "http://proxy.test:1")
        given_url = self.parse("--proxy-url", "http://other.test:2")["proxy-url"]
        self.assertEqual(given_url, "http://other.test:2")

    def test_bad_environment(self) -> None:
        """A bad address in the environment is named."""
        os.environ["TRAFFICMOCK_PROXY_URL"] = "proxy"
        self.assertEqual(self.assertRaises(SystemExit, self.parse).code, 1)
        self.assertIn("TRAFFICMOCK_PROXY_URL must be like", self.stderr.getvalue())

    def test_credentials(self) -> None:
        """Name and token in a refused address are not shown."""
        for words in (["--proxy-url", "http://shop:hush@h:1"], ["--proxy-url", "shop:hush@h"]):
            self.assertEqual(self.assertRaises(SystemExit, self.parse, *words).code, 1)
        self.assertIn("...@h:1", self.stderr.getvalue())
        self.assertNotIn("hush", self.stderr.getvalue())

    def test_bad_values(self) -> None:
        """A bad value ends with one line that says what is allowed, and status 1."""
        for words, message in [
            (["--port", "x"], "--port must be a whole number, 0 to 65535, not 'x'"),
            (["--proxy-url", "https://h"], "--proxy-url must be like http://127.0.0.1:4310"),
            (["--proxy-url", "http://h/x"], "--proxy-url must be like"),
            (["--allowed-host", "a b"], "--allowed-host must be a host name"),
            (["word"], "unknown argument 'word'"),
        ]:
            self.assertEqual(self.assertRaises(SystemExit, self.parse, *words).code, 1)
            self.assertIn(message, self.stderr.getvalue())

    @given(st.text())
    def test_any_url(self, text: str) -> None:
        """Any text is an address of a proxy or a ValueError."""
        try:
            self.assertTrue(proxy_url(text).startswith("http://"))
        except ValueError as error:
            self.assertIn("like http://", str(error))
