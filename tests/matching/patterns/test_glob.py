"""Requirements on :mod:`trafficmock.matching.patterns.glob`."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

import tests
from tests.matching.strategies import globs, urls
from trafficmock.matching.patterns.glob import compile_glob
from trafficmock.matching.patterns.glob_tokens import GlobError

ROWS = Path(tests.__file__).parent / "data" / "globs.jsonl"

#: The examples of protocol 3: glob, URL, whether they match.
EXAMPLES = (
    ("", "http://h.test/x", True),
    ("**", "http://h.test/x", True),
    ("*", "http://h.test/x", False),
    ("**/*", "http://h.test/", True),
    ("**/users", "http://h.test/users?x=1", False),
    ("**/users*", "http://h.test/users?x=1", True),
    ("**/users*", "http://h.test/users?next=/a/b", False),
    ("**/users**", "http://h.test/users?next=/a/b", True),
    ("http://h.test/users", "http://h.test/users/", False),
    ("http://h.test/*", "http://h.test/users/1", False),
    ("http://h.test/*", "http://h.test/", True),
    ("http://h.test", "http://h.test/", True),
    ("http://h.test**", "http://h.test/a", False),
    ("http+unix://%2Frun%2Fd.sock/info", "http+unix://%2Frun%2Fd.sock/info", True),
    ("HTTP+Unix://%2frun%2fd.sock/%7e", "http+unix://%2Frun%2Fd.sock/%7e", True),
    ("http+unix://%2Frun%2FD.sock", "http+unix://%2Frun%2FD.sock/", True),
    ("http+unix://%2Frun%2FD.sock", "http+unix://%2Frun%2Fd.sock/", False),
    ("http+unix://*/info", "http+unix://%2Frun%2Fd.sock/info", True),
    ("http+unix://*D.sock/v*/info?*", "http+unix://%2Frun%2FD.sock/v1/info?all=1", True),
    ("http+unix://**/info", "http+unix://%2Frun%2Fd.sock/v1/info", True),
    ("http://h.test/**/users", "http://h.test/users", True),
    ("http://h.test/**/users", "http://h.test/a/b/users", True),
    ("http://h.test/a/**/b", "http://h.test/ab", False),
    ("http://h.test/a/**/b", "http://h.test/a//b", False),
    ("http://h.test/a/**/b", "http://h.test/a///b", True),
    ("http://h.test/a**/b", "http://h.test/ax/y/b", True),
    ("http://h.test/***/b", "http://h.test/x/y/b", True),
    ("HTTP://H.TEST/Users", "http://h.test/Users", True),
    ("HTTP://H.TEST/Users", "http://h.test/users", False),
    ("http://*.Test/x", "http://a.test/x", True),
    ("http://{A,b}.test/x", "http://a.test/x", True),
    ("http://h.test:80/x", "http://h.test/x", True),
    ("http://h.test:*/x", "http://h.test:8080/x", True),
    ("http://127.1/**", "http://127.0.0.1/users", True),
    ("http://[::1]:8080/*", "http://[::1]:8080/x", True),
    ("http://h.test/a b", "http://h.test/a%20b", True),
    ("http://h.test/é", "http://h.test/%C3%A9", True),
    ("http://h.test/é*", "http://h.test/%C3%A9x", False),
    ("http://bücher.test/x", "http://xn--bcher-kva.test/x", True),
    ("http://h.test/%7Eme", "http://h.test/~me", False),
    ("http://h.test/a?b", "http://h.test/axb", False),
    (r"http://h.test/a\?b", "http://h.test/a?b", True),
    (r"http://h.test/a\\?b", "http://h.test/a?b", True),
    ("http://h.test/users?id=*", "http://h.test/users?id=a/b", False),
    ("http://h.test/users?*", "http://h.test/users", False),
    ("http://h.test/{a/b,c}", "http://h.test/a/b", True),
    ("http*://h.test", "https://h.test/", True),
    ("http{,s}://h.test", "https://h.test/", True),
    ("*://h.test/", "https://h.test/", True),
    ("**/*.{png,jpg}", "http://h.test/i/a.jpg?x", False),
    ("**/*.{png,jpg}", "http://h.test/i/a.jpg", True),
    ("**/[ab]", "http://h.test/a", False),
    (r"**/a\*b", "http://h.test/aXb", False),
    (r"**/a\*b", "http://h.test/a*b", True),
    (r"http://h.test/a\{b\}", "http://h.test/a%7Bb%7D", False),
    ("http://h.test/*/../x", "http://h.test/x", True),
    ("http:h.test/*", "http://h.test/x", True),
    ("//h.test/x", "http://h.test/x", False),
    ("h.test/x", "http://h.test/x", False),
    ("/api/users", "http://h.test/api/users", False),
    ("http://h.test/s", "ws://h.test/s", False),
    ("**/a", "http://h.test/\n/a", False),
    ("**/a", "http://h.test/\u2028/a", False),
    ("**/*", "http://h.test/\n", True),
    ("**/a*", "http://h.test/a\ud800", True),
)

#: glob, base URL, for WebSockets, URL; all match.
WITH_BASE = (
    ("/api/users", "http://h.test", False, "http://h.test/api/users"),
    ("../x", "http://h.test/v1/", False, "http://h.test/x"),
    ("?q=*", "http://h.test/v1/", False, "http://h.test/v1/?q=1"),
    ("/s", "https://h.test", True, "wss://h.test/s"),
    ("/s", "HTTP://h.test", True, "ws://h.test/s"),
)


class CompileGlobTests(SynchronousTestCase):
    """Globs mean what protocol 3 says."""

    def test_recorded_rows(self) -> None:
        """Globs match as the npm packages match them, over 3000 recorded rows."""
        for number, line in enumerate(ROWS.read_text().splitlines(), 1):
            row = json.loads(line)
            try:
                glob = compile_glob(row["glob"], base_url=row["base"], websocket=row["websocket"])
                found: bool | str = glob.fullmatch(row["url"])
            except GlobError:
                found = "error"
            self.assertEqual(found, row["matches"], f"row {number}: {line}")

    def test_examples(self) -> None:
        """The examples of protocol 3 hold."""
        for glob, url, expected in EXAMPLES:
            self.assertIs(compile_glob(glob).fullmatch(url), expected, (glob, url))

    def test_base(self) -> None:
        """Relative globs match below their base."""
        for glob, base_url, websocket, url in WITH_BASE:
            compiled = compile_glob(glob, base_url=base_url, websocket=websocket)
            self.assertTrue(compiled.fullmatch(url), glob)

    def test_brace_errors(self) -> None:
        """Nested and unmatched braces are refused."""
        for glob in ("http://h.test/{a", "http://h.test/a}", "http://h.test/{a,{b}}"):
            self.assertRaises(GlobError, compile_glob, glob)

    def test_pathological(self) -> None:
        """Many stars take no more than linear time."""
        url = "http://h.test/" + "a" * 5000
        for glob in ("*a" * 20 + "*b", "**a" * 20 + "**b", "*{a,*a}" * 20 + "b", "**/" * 50 + "b"):
            self.assertFalse(compile_glob("**/" + glob).fullmatch(url), glob)

    def test_pathologically_long(self) -> None:
        """A glob of a million characters is refused in no more than linear time."""
        for text in ("**/", "*", "\\a", "{a,b}", "?", "a/*/"):
            glob = "http://h.test/" + text * (1_000_000 // len(text))
            self.assertRaises(GlobError, compile_glob, glob)

    def test_too_long(self) -> None:
        """A glob too long for the engine is refused with its length; an exact URL is not."""
        error = self.assertRaises(GlobError, compile_glob, "*" + "a" * 100_000)
        self.assertIn("100001 characters", str(error))
        url = "http://h.test/" + "a" * 100_000
        self.assertTrue(compile_glob(url).fullmatch(url))

    @given(globs, urls)
    def test_shape_and_pattern_agree(self, glob: str, url: str) -> None:
        """The quick ways through a match give the same answer as the pattern alone."""
        try:
            compiled = compile_glob(glob)
        except GlobError:
            return
        if compiled.pattern is not None:
            subject = url.encode("utf-8", "surrogatepass")
            self.assertEqual(compiled.fullmatch(url), compiled.pattern.fullmatch(subject))

    @given(st.text(max_size=30), st.text(st.characters(exclude_categories=()), max_size=30))
    def test_any_text(self, glob: str, url: str) -> None:
        """Any text is a glob or refused as one, and can be compared with any text."""
        try:
            self.assertIn(compile_glob(glob).fullmatch(url), (True, False))
        except GlobError as error:
            self.assertIn("URL glob", str(error))
