"""Hosts that are reached without the proxy."""

import json
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from trafficmock_preload.direct_targets import DirectTargets
from trafficmock_preload.preload_settings import PreloadSettings, SettingsError
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.matching.url_parts import url_parts

TABLE = json.loads((Path(__file__).parents[3] / "data" / "host_patterns.json").read_text())
"""Of the tests of the proxy."""

READ_HERE = {"a b", "a.test,b.test", "256.0.0.1", "..", "0..", "ü*.test"}
"""Two patterns here, and patterns that only a URL parser refuses."""


def targets(no_proxy: str = "", ignored: str = "") -> DirectTargets:
    return DirectTargets(
        PreloadSettings(
            {
                "TRAFFICMOCK_PROXY_URL": "http://127.0.0.1:4310",
                "NO_PROXY": no_proxy,
                "TRAFFICMOCK_IGNORE_HOSTS": ignored,
            },
            lambda: "app",
        )
    )


class DirectTargetsTests(SynchronousTestCase):
    """The proxy, ``NO_PROXY`` and ``TRAFFICMOCK_IGNORE_HOSTS``."""

    def test_proxy(self) -> None:
        """The proxy itself is reached directly, under each name of loopback; its port alone."""
        found = targets()
        for host in ("127.0.0.1", "localhost", "::1", "[::1]", "LOCALHOST"):
            self.assertTrue(found.includes(host, 4310), host)
            self.assertFalse(found.includes(host, 4311), host)
        self.assertFalse(found.includes("third.test", 4310))

    def test_no_proxy(self) -> None:
        """Names stand for what is below them; ports, networks and the star are understood."""
        for rule, host, port, wanted in (
            ("shop.test", "shop.test", 80, True),
            ("shop.test", "api.SHOP.test", 443, True),
            ("shop.test", "eshop.test", 80, False),
            (".shop.test", "api.shop.test", 80, True),
            ("*.shop.test", "api.shop.test", 80, True),
            ("shop.test:8443", "shop.test", 8443, True),
            ("shop.test:8443", "shop.test", 443, False),
            ("10.0.0.0/8", "10.1.2.3", 80, True),
            ("10.0.0.0/8", "11.1.2.3", 80, False),
            ("10.0.0.0/8", "shop.test", 80, False),
            ("not/a/network", "shop.test", 80, False),
            ("a, *", "anything.test", 80, True),
            ("[::1]:8080", "::1", 8080, True),
            ("shop.test", "shop.test.", 80, True),
        ):
            self.assertEqual(targets(no_proxy=rule).includes(host, port), wanted, (rule, host))

    def test_ignored(self) -> None:
        """Patterns match the hosts that they match in the proxy and in the Node agent."""
        for case in TABLE["patterns"]:
            pattern = case.get("normal", case["pattern"])
            patterns = {pattern, case["pattern"]} if case["pattern"].count(":") > 1 else {pattern}
            for ignored, url in product(patterns, [*case["matches"], *case["others"]]):
                parts = url_parts(url)
                assert parts is not None
                found = targets(ignored=f"other.test:1, {ignored}").includes(
                    parts.host, int(parts.port)
                )
                self.assertEqual(found, url in case["matches"], (ignored, url))

    def test_wrong(self) -> None:
        """A pattern that no host can match is named with the variable, as the Node agent does."""
        for text in TABLE["wrong"].keys() - READ_HERE - {""}:
            error = self.assertRaises(SettingsError, targets, ignored=f"a.test {text}")
            self.assertEqual(
                str(error),
                "TRAFFICMOCK_IGNORE_HOSTS must be hosts such as *.sentry.io, localhost:4318 or "
                f"[::1]:80, not {text!r}",
            )

    @given(st.text(alphabet="a*.:/[]1", max_size=15), st.text(alphabet="a.:1", max_size=10))
    def test_any(self, rule: str, host: str) -> None:
        """Any words are read, or refused."""
        targets(no_proxy=rule).includes(host, 80)
        try:
            found = targets(ignored=rule)
        except SettingsError:
            return
        found.includes(host, 80)
