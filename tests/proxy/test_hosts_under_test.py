"""Hosts of the system under test."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.hosts_under_test import is_under_test, parse_own_host
from trafficmock.proxy.request_target import absolute, read_origin

CASES = json.loads((Path(__file__).parents[1] / "data" / "own_hosts.json").read_text())
"""The Node agent's tests read them too."""


class HostTests(SynchronousTestCase):
    """Where a context may go on to."""

    def test_cases(self) -> None:
        """It goes to hosts of this machine, names without a dot and those of --own-host, only."""
        for case in CASES:
            globs = [parse_own_host(glob) for glob in case["globs"]]
            if "sent" in case:
                self.assertEqual(globs, case["sent"])
            origin = absolute(case["url"].encode()).origin
            self.assertEqual(is_under_test(origin, globs), case["own"], case)

    def test_never(self) -> None:
        """What no host can match is refused, and the text says what it must be."""
        for text in (
            "",
            "http://shop.test",
            "shop.test/",
            "shop.test:",
            "shop.test:0",
            "shop.test:65536",
            "shop.test:http",
            "2001:db8::1::",
            "2001:db8::*",
            "[2001:db8::1",
            "[2001:db8::1::]",
            "[shop.test]",
            "256.0.0.1",
            "..",
            "0..",
            "a b",
            "bücher.test",
            "shop?.test",
            "user@shop.test",
        ):
            with self.assertRaises(ValueError, msg=text) as caught:
                parse_own_host(text)
            self.assertIn(
                f"a host such as *.shop.test, 10.0.0.*:8080 or [fd00::1], not {text!r}",
                str(caught.exception),
            )

    @given(st.text("ab1.*:[]0x", max_size=12))
    def test_all(self, text: str) -> None:
        """A glob without a star that is taken matches the host that it names."""
        try:
            glob = parse_own_host(text)
        except ValueError:
            return
        if "*" not in text:
            self.assertTrue(is_under_test(read_origin("http", glob.encode()), [glob]), glob)
