"""Readers of option values; more stands with the options that use them."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.coercers import choice, http_url, named, not_empty, number


class CoercerTests(SynchronousTestCase):
    """Values and refusals."""

    @given(st.text())
    def test_numbers(self, text: str) -> None:
        """A number within the bounds is read, everything else is refused with the bounds."""
        try:
            value = number(1, 99)(text)
        except ValueError as error:
            self.assertIn("a whole number, 1 to 99", str(error))
        else:
            self.assertTrue(1 <= value <= 99)

    def test_words(self) -> None:
        """A word is one of those that are allowed."""
        self.assertEqual(choice("a", "b")("b"), "b")
        self.assertIn("one of a, b", str(self.assertRaises(ValueError, choice("a", "b"), "c")))

    def test_not_empty(self) -> None:
        """Neither nothing nor the next option is a value."""
        self.assertEqual(not_empty("x"), "x")
        for text in ("", "--port"):
            self.assertRaises(ValueError, not_empty, text)

    def test_url(self) -> None:
        """A URL has a host, and neither user, query nor fragment."""
        for text in ("http://127.0.0.1:4318", "https://otel.test/base", "http://[::1]:1"):
            self.assertEqual(http_url(text), text)
        for text in ("", "otel.test:4318", "ftp://a", "http://", "http://a:0", "http://a:99999"):
            self.assertRaises(ValueError, http_url, text)
        for text in ("http://u:p@a", "http://a?x", "http://a/#x", "http://a b", "http://\xe4"):
            self.assertRaises(ValueError, http_url, text)

    @given(st.text())
    def test_any_url(self, text: str) -> None:
        """Any text is taken or refused."""
        with contextlib.suppress(ValueError):
            http_url(text)

    def test_named(self) -> None:
        """A refusal names the option."""
        refused = self.assertRaises(ValueError, named("port", not_empty), "")
        self.assertEqual(str(refused), "--port must be not empty")
