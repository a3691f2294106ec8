"""Hosts and origins are read strictly and never raise."""

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.hosts import Authority, is_loopback, parse_authority, parse_origin

READ = {
    "localhost": Authority("localhost", None),
    "LocalHost:4310": Authority("localhost", 4310),
    "localhost.:80": Authority("localhost", 80),
    "localhost:": Authority("localhost", None),
    "127.0.0.1:4310": Authority("127.0.0.1", 4310),
    "[::1]:4310": Authority("::1", 4310),
    "[0:0:0:0:0:0:0:1]": Authority("::1", None),
    "[::FFFF:127.0.0.1]": Authority("127.0.0.1", None),
    "my_app.local": Authority("my_app.local", None),
}
REFUSED = [
    "",
    ".",
    ":4310",
    "::1",
    "[::1",
    "[::g]",
    "[127.0.0.1]x",
    "a:b",
    "a:99999",
    "a:123456",
    "a b",
    "user@localhost",
    "localhost/",
    "localhost,evil.example",
    "bücher.example",
    "a\n",
]
LOOPBACK = ["localhost", "app.localhost", "127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.1"]
ELSEWHERE = ["localhost.evil.example", "evillocalhost", "127.0.0.1.nip.io", "10.0.0.1", "::", ""]


class AddressTests(SynchronousTestCase):
    """What stands in Host and Origin."""

    def test_authorities(self) -> None:
        """``host[:port]`` is brought into one form."""
        for text, expected in READ.items():
            self.assertEqual(parse_authority(text), expected, text)

    def test_no_authorities(self) -> None:
        """Anything else is refused."""
        for text in REFUSED:
            self.assertIsNone(parse_authority(text), text)

    def test_loopback(self) -> None:
        """Only names under localhost and loopback addresses are this machine."""
        for host in LOOPBACK:
            self.assertTrue(is_loopback(host), host)
        for host in ELSEWHERE:
            self.assertFalse(is_loopback(host), host)

    def test_origins(self) -> None:
        """An origin is http or https with a host, its default port filled in."""
        self.assertEqual(parse_origin("http://localhost"), Authority("localhost", 80))
        self.assertEqual(parse_origin("HTTPS://a.example"), Authority("a.example", 443))
        self.assertEqual(parse_origin("http://[::1]:3000"), Authority("::1", 3000))
        for text in ("null", "", "file://", "localhost", "http://", "http://a/b", "ws://localhost"):
            self.assertIsNone(parse_origin(text), text)

    @given(st.one_of(st.text(), st.from_regex(r"[\[\]a-z0-9.:%]{0,20}", fullmatch=True)))
    @example("[::1%25eth0]:1")
    @example("١٢٧.0.0.1:٤")
    def test_anything(self, text: str) -> None:
        """Whatever is sent is read or refused; what is read has a host and a port in range."""
        for found in (parse_authority(text), parse_origin(text), parse_origin(f"http://{text}")):
            if found is not None:
                self.assertTrue(found.host)
                self.assertTrue(found.port is None or 0 <= found.port <= 65535)
                is_loopback(found.host)
