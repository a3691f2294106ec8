"""Words of error messages."""

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.command.traffic import HOSTILE
from trafficmock.texts.message_text import printable, without_credentials


class SecretTests(SynchronousTestCase):
    """What is shown of a proxy's URL."""

    def test_examples(self) -> None:
        """What stands before the host is left out; without it the URL is shown as it is."""
        for url, shown in (
            ("http://shop:s3cret@host:x", "http://...@host:x"),
            ("http://a@b@c", "http://...@c"),
            ("shop:s3cret@host:1", "...@host:1"),
            ("shop:s/3@host:1", "...@host:1"),
            ("http://host:1", "http://host:1"),
            ("", ""),
        ):
            self.assertEqual(without_credentials(url), shown)

    @given(st.text(max_size=20), st.text(max_size=20), st.sampled_from(["", "http://", "//"]))
    def test_any(self, before: str, after: str, scheme: str) -> None:
        """Whatever a token consists of, it is not shown."""
        shown = without_credentials(f"{scheme}shop:<{before}>@{after}")
        self.assertNotIn(f"<{before}>", shown.removesuffix(after))


class PrintableTests(SynchronousTestCase):
    """Nothing recorded reaches a terminal or a log raw."""

    @given(st.text(st.characters(), max_size=50))
    @example(HOSTILE)
    @example("\ud800")
    def test_prints(self, text: str) -> None:
        """Whatever the text, the result is one line without controls, and can be encoded."""
        shown = printable(text)
        self.assertTrue(shown.isprintable())
        shown.encode()

    def test_escapes(self) -> None:
        """Escapes say what stood there; what prints stays."""
        self.assertEqual(printable("a\x1b[31m\n\u202e é日本"), "a\\x1b[31m\\n\\u202e é日本")
