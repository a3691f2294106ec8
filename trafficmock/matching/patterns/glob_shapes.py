"""Matches globs with one or two stars by text search, which is faster than RE2."""

from collections.abc import Sequence
from typing import Self

import attrs

from trafficmock.matching.patterns.glob_tokens import Token, Wildcard


@attrs.frozen
class TwoStars:
    """A glob of the form ``prefix`` star ``middle`` star ``suffix``.

    A glob with one star has an empty middle. The results are correct only for URLs without line
    breaks, which stars do not match.
    """

    prefix: str
    first: Wildcard
    middle: str
    second: Wildcard
    suffix: str

    @classmethod
    def from_tokens(cls, tokens: Sequence[Token]) -> Self | None:
        """Make the shape of a glob.

        :param tokens: a glob, see :func:`trafficmock.matching.patterns.glob_tokens.tokenize`.
        :returns: ``None`` for a glob of another form.
        """
        texts, stars = [""], []
        for token in tokens:
            if isinstance(token, str):
                texts[-1] += token
            elif token is Wildcard.SEGMENT or token is Wildcard.ANYTHING:
                stars.append(token)
                texts.append("")
            else:
                return None
        match stars:
            case [only]:
                return cls(texts[0], only, "", only, texts[1])
            case [first, second]:
                return cls(texts[0], first, texts[1], second, texts[2])
        return None

    def fullmatch(self, url: str) -> bool:
        """Return whether the glob matches a URL.

        :param url: without LF, CR, U+2028 and U+2029.
        """
        start, end = len(self.prefix), len(url) - len(self.suffix)
        if start > end or not url.startswith(self.prefix) or not url.endswith(self.suffix):
            return False
        return self._inner(url[start:end])

    def _inner(self, text: str) -> bool:
        """Compare the text between prefix and suffix.

        If one star matches no slash, only the occurrence of the middle that is nearest to that star
        is tried: any other leaves more text, and so no fewer slashes, to it.
        """
        middle = self.middle
        if self.first is Wildcard.ANYTHING:
            if self.second is Wildcard.ANYTHING:
                return middle in text
            found = text.rfind(middle)
            return found >= 0 and text.find("/", found + len(middle)) < 0
        if self.second is Wildcard.ANYTHING:
            found = text.find(middle)
            return found >= 0 and text.find("/", 0, found) < 0
        if "/" not in middle:
            return middle in text and "/" not in text
        found = text.find("/") - middle.find("/")
        return (
            found >= 0
            and text.startswith(middle, found)
            and text.find("/", found + len(middle)) < 0
        )
