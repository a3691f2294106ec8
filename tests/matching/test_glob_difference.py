"""In which part a URL is not what a glob wants."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.matching.glob_difference import differing_parts
from trafficmock.matching.patterns.glob import compile_glob
from trafficmock.matching.patterns.glob_resolution import needs_base
from trafficmock.matching.patterns.glob_tokens import GlobError
from trafficmock.matching.url_parts import url_parts

URL = "https://api.test:8443/v1/charges?page=2"
GLOBS = st.lists(st.sampled_from([*"ab/*?{},.:", "http://"]), min_size=1, max_size=12).map("".join)


def differing(glob: str, url: str = URL) -> list[str]:
    parts = url_parts(url)
    assert parts is not None
    return [part for part, _, _ in differing_parts(glob, parts)]


class DifferenceTests(SynchronousTestCase):
    """The parts by name."""

    def test_parts(self) -> None:
        """Each part that differs is named, in the order of the URL."""
        for glob, expected in (
            (URL, []),
            ("**", []),
            ("**/charges?page=2", []),
            ("**/charges*", []),
            ("**2", []),
            ("**/v1**=2", []),
            ("**3", ["path", "query"]),
            ("**/charges", ["query"]),
            ("**/charge", ["path", "query"]),
            ("**/charge?page=2", ["path"]),
            ("/v1/charge?page=2", ["path"]),
            ("http://api.test:8443/**", ["scheme"]),
            ("https://api.test/**", ["port"]),
            ("https://*.example:8443/**", ["host"]),
            ("http://api.example/v1/*", ["scheme", "host", "port"]),
            ("*://api.test:*/v1/charges?page=*", []),
            ("https://**/charges?page=2", []),
            ("https://**/refunds?page=2", ["path"]),
            ("https://api.test:8443/v1/{charges,refunds}?page=2", []),
            ("https://api.test:8443/v1/{refunds,disputes}?page=2", ["path"]),
            ("https://api.test:8443/v1/charges?page=3", ["query"]),
            ("https://{api.test:8443/v1,b.test}/charges", ["query"]),
            ("https://{api,www}.test:8443/v1/charges?page=2", []),
            ("https://{api,www}.test:9443/v1/charges?page=2", ["port"]),
            ("https://{api,www}.Test:8443/v1/charges?page=2", []),
            ("https://{api,www}.Example:8443/v1/charges?page=2", ["host"]),
        ):
            self.assertEqual(differing(glob), expected, glob)

    def test_defaults(self) -> None:
        """A glob without a port means the scheme's, one without a path the root."""
        self.assertEqual(differing("http://h.test", "http://h.test/"), [])
        self.assertEqual(differing("https://h.test:443/", "https://h.test/"), [])
        self.assertEqual(differing("http://h.test", "http://h.test/a"), ["path"])

    def test_default_port_in_a_glob(self) -> None:
        """Braces in the host keep a default port in the glob, which no URL has."""
        parts = url_parts("https://api.test/")
        assert parts is not None
        found = differing_parts("https://{api,www}.test:443/", parts)
        self.assertEqual(found, [("port", "", "443")])

    @profile(300)
    @given(GLOBS, st.sampled_from([URL, "http://a/b", "http://a.b/", "https://ab/a?b"]))
    def test_never_of_a_match(self, glob: str, url: str) -> None:
        """A glob that matches the URL differs in nothing; any other can be asked."""
        found = differing(glob, url)
        try:
            matches = not needs_base(glob) and compile_glob(glob).fullmatch(url)
        except GlobError:
            return
        if matches:
            self.assertEqual(found, [])
