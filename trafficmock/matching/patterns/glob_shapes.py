"""Most globs have one or two stars: they need no pattern engine."""

from collections.abc import Sequence
from typing import Self

import attrs

from trafficmock.matching.patterns.glob_tokens import Token, Wildcard


@attrs.frozen
class TwoStars:
    """``prefix`` star ``middle`` star ``suffix``, compared by searching for the texts.

    Right for subjects without the line breaks that stars do not cross.
    """

    prefix: str
    first: Wildcard
    middle: str
    second: Wildcard
    suffix: str

    @classmethod
    def from_tokens(cls, tokens: Sequence[Token]) -> Self | None:
        """Recognise the shape.

        :param tokens: a glob, see :func:`trafficmock.matching.patterns.glob_tokens.tokenize`.
        :return: nothing if the glob has another shape.
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
        """Tell whether the shape covers all of the text.

        :param url: without LF, CR, U+2028 and U+2029.
        """
        start, end = len(self.prefix), len(url) - len(self.suffix)
        if start > end or not url.startswith(self.prefix) or not url.endswith(self.suffix):
            return False
        return self._inner(url[start:end])

    def _inner(self, text: str) -> bool:
        """Compare what is between prefix and suffix.

        The star that takes no slash decides where the middle must stand: as close to
        it as possible, and if that is too far away then so are all other places.
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
