"""How answers are written."""

import json

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.responses import RestError, encode, error_body


class AnswerTests(SynchronousTestCase):
    """Bodies."""

    @given(st.dictionaries(st.text(), st.text(st.characters())))
    def test_any_text(self, value: dict[str, str]) -> None:
        """Any text survives, lone surrogates too, and the JSON is ASCII."""
        text = encode(value)
        self.assertTrue(text.isascii())
        self.assertEqual(json.loads(text), value)

    def test_errors(self) -> None:
        """An error has a message, unless there is nothing to say."""
        self.assertEqual(error_body("a", "do b"), b'{"error":"a","message":"do b"}')
        self.assertEqual(error_body("a", ""), b'{"error":"a"}')

    def test_rest_error(self) -> None:
        """A :class:`RestError` says in a log what it is."""
        self.assertIn("not_found", str(RestError(404, "not_found", "look elsewhere")))
