"""Where the proxy is, as clients read it."""

import os
import urllib.request
from typing import Any
from urllib.parse import unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.proxy_variables import (
    ProxyAddress,
    direct_hosts,
    proxy_variables,
    unapplied_hosts,
)

PLAIN = ProxyAddress.parse("http://127.0.0.1:4310", None, None)


class AddressTests(SynchronousTestCase):
    """The proxy's URL with its credentials."""

    def test_forms(self) -> None:
        """The port is always there, and so are both credentials where one is."""
        for url, client_id, token, expected in (
            ("http://127.0.0.1:4310/", None, None, "http://127.0.0.1:4310"),
            ("http://box", None, None, "http://box:80"),
            ("https://[::1]", None, None, "https://[::1]:443"),
            ("http://box:1", "shop", None, "http://shop:-@box:1"),
            ("http://box:1", None, "t", "http://proxy:t@box:1"),
            ("http://in:url@box:1", None, None, "http://in:url@box:1"),
            ("http://in:url@box:1", "shop", "t", "http://shop:t@box:1"),
        ):
            self.assertEqual(ProxyAddress.parse(url, client_id, token).url, expected)

    def test_no_address(self) -> None:
        """What is no URL of a proxy is refused."""
        for url in ("ftp://x", "127.0.0.1:4310", "http://", "http://x:y", "", "http://[", "http:x"):
            self.assertRaises(ValueError, ProxyAddress.parse, url, None, None)

    @given(st.text(min_size=1), st.text(min_size=1))
    def test_escaped(self, client_id: str, token: str) -> None:
        """Whatever the id and the token are, a client that takes the URL apart has them again."""
        try:
            client_id.encode(), token.encode()
        except UnicodeEncodeError:
            return
        parts = urlsplit(ProxyAddress("http", "box", 1, client_id, token).url)
        found = (unquote(parts.username or ""), unquote(parts.password or ""), parts.port)
        self.assertEqual(found, (client_id, token, 1))


class VariableTests(SynchronousTestCase):
    """The variables themselves."""

    def test_both_cases(self) -> None:
        """HTTP and WebSockets, with and without TLS, in both cases; nothing else is touched."""
        found = proxy_variables(PLAIN, direct_hosts(PLAIN, {}))
        expected = {"http_proxy", "https_proxy", "ws_proxy", "wss_proxy", "no_proxy"}
        self.assertEqual(found.keys(), expected | {name.upper() for name in expected})
        self.assertEqual(set(found.values()), {"http://127.0.0.1:4310", "127.0.0.1:4310"})

    def test_kept(self) -> None:
        """Loopback is kept, each name once, behind the proxy itself."""
        present = {"no_proxy": "::1, localhost,", "NO_PROXY": "localhost,127.0.0.1"}
        direct = direct_hosts(PLAIN, present)
        kept = proxy_variables(PLAIN, direct)["NO_PROXY"]
        self.assertEqual(kept, "127.0.0.1:4310,::1,localhost,127.0.0.1")
        self.assertEqual(direct_hosts(PLAIN, present, ""), ["127.0.0.1:4310"])
        self.assertEqual(direct_hosts(PLAIN, present, "c"), ["127.0.0.1:4310", "c"])

    def test_left_out(self) -> None:
        """Other hosts are not kept, but what the user gives to us."""
        own = "localhost,.localhost,127.0.0.1:80,127.0.0.0/8,::1,[::1]:80,LOCALHOST,*.localhost"
        leaks = ["*", ".example", "third.example", "db", "10.0.0.0/8", "0.0.0.0/0", "fe80::1"]
        present = {"NO_PROXY": f"{own},{','.join(leaks)}", "no_proxy": "[x"}
        kept = direct_hosts(PLAIN, present)
        self.assertEqual(kept, ["127.0.0.1:4310", *own.split(",")])
        self.assertEqual(unapplied_hosts(present), ["[x", *leaks])
        given = direct_hosts(PLAIN, present, "a.test")
        self.assertEqual(given, ["127.0.0.1:4310", "a.test"])

    def test_python_reads_it(self) -> None:
        """Python's own reading: everything goes through the proxy but the proxy itself."""
        for name, value in proxy_variables(PLAIN, direct_hosts(PLAIN, {})).items():
            self.patch(os, "environ", {name: value})
            found = urllib.request.getproxies_environment()
            self.assertEqual(list(found.values()), [value])
        bypassed: Any = vars(urllib.request)["proxy_bypass_environment"]
        proxies = {"no": "127.0.0.1:4310"}
        self.assertTrue(bypassed("127.0.0.1:4310", proxies))
        self.assertFalse(bypassed("127.0.0.1:8000", proxies))
        self.assertFalse(bypassed("localhost", proxies))
