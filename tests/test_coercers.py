"""Readers of option values; more stands with the options that use them."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.coercers import choice, named, not_empty, number


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

    def test_named(self) -> None:
        """A refusal names the option."""
        refused = self.assertRaises(ValueError, named("port", not_empty), "")
        self.assertEqual(str(refused), "--port must be not empty")
