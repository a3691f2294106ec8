"""What is said of words that are unknown."""

import json

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.texts.unknown_words import unknown_words

KNOWN = ("status", "contentType")


class SuggestionTests(SynchronousTestCase):
    """The sentence."""

    def test_known(self) -> None:
        """Known words need none."""
        self.assertEqual(unknown_words("options", ["status"], KNOWN), "")

    def test_similar(self) -> None:
        """A word that is similar, in any case, is suggested once."""
        self.assertEqual(
            unknown_words("options", ["stauts", "STATUS", "x"], KNOWN, quoted=json.dumps),
            '"stauts", "STATUS", "x" are unknown; did you mean "status"? The options are: status, '
            "contentType",
        )

    def test_not_similar(self) -> None:
        """Without a similar word there is the list alone; what is given may be no text."""
        self.assertEqual(
            unknown_words("options", [5], KNOWN, shown=hex),
            "0x5 is unknown; the options are: status, contentType",
        )
