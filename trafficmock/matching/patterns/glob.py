"""URL globs, as protocol 3 defines them (``docs/protocol/objects.md``)."""

from collections.abc import Sequence
from operator import methodcaller
from typing import Self

import attrs

from trafficmock.matching.patterns.glob_resolution import OPAQUE_CHARACTERS, resolve
from trafficmock.matching.patterns.glob_tokens import (
    GlobError,
    Token,
    Wildcard,
    tokenize,
    write_out,
)
from trafficmock.matching.patterns.linear_regex import (
    MAX_SOURCE,
    LinearPattern,
    PatternTooLargeError,
    byte_escape,
)
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import NO, YES, MatchResult
from trafficmock.matching.patterns.url_literals import MAX_VARIANTS, Literals, glob_literals

ANY_CHARACTER = rb"(?:[^\n\r\xe2]|\xe2[^\x80]|\xe2\x80[^\xa8\xa9])"
PATTERNS = {
    Wildcard.SEGMENT: rb"[^/]*",
    Wildcard.ANYTHING: ANY_CHARACTER + rb"*",
    Wildcard.DIRECTORIES: rb"(?:" + ANY_CHARACTER + rb"+/)?",
}
#: The pattern of the empty glob, which matches every URL.
EVERYTHING = rb"[\x00-\xff]*"


@attrs.frozen
class TwoStars:
    """A glob of the form ``prefix`` star ``middle`` star ``suffix``, matched by text search.

    That is faster than RE2.
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

        Between prefix and suffix, if one star matches no slash, only the occurrence of the middle
        that is nearest to that star is tried: any other leaves more text, and so no fewer slashes,
        to it.

        :param url: without LF, CR, U+2028 and U+2029.
        """
        start, end, middle = len(self.prefix), len(url) - len(self.suffix), self.middle
        if start > end or not url.startswith(self.prefix) or not url.endswith(self.suffix):
            return False
        text = url[start:end]
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


@attrs.frozen(eq=False)
class Glob:
    """A compiled URL glob.

    :param literals: the texts that a matching URL contains.
    :param pattern: the RE2 pattern of the glob; ``None`` for a glob that matches exactly one URL.
    :param shapes: a faster form for printable URLs, one for each combination of the alternatives
        in braces; empty if the glob is not simple enough.
    """

    literals: Literals
    pattern: LinearPattern | None = None
    shapes: tuple[TwoStars, ...] = ()

    def fullmatch(self, url: str) -> bool:
        """Return whether the glob matches, in time linear in the length of the URL.

        :param url: a whole URL, with query and fragment.
        """
        return self.judge(JudgedUrl(url)) is YES

    def judge(self, subject: JudgedUrl, budget: MatchBudget | None = None) -> MatchResult:
        """Compare a URL with the glob; ``UNDECIDABLE`` if that takes too many steps.

        :param subject: a whole URL, with query and fragment.
        :param budget: bounds the steps; ``None`` for any number.
        """
        literals, url = self.literals, subject.url
        if self.pattern is None:
            matches = url == literals.exact
        elif literals.needle not in url:
            matches = False
        elif self.shapes and url.isprintable():
            matches = any(map(methodcaller("fullmatch", url), self.shapes))
        elif budget is None:
            matches = self.pattern.fullmatch(subject.data)
        else:
            return budget.fullmatch(self.pattern, subject)
        return YES if matches else NO


def compile_glob(glob: str, *, base_url: str | None = None, websocket: bool = False) -> Glob:
    """Compile a glob.

    :param glob: the glob as the test wrote it; an empty one matches every URL.
    :param base_url: the base URL of the test, for relative globs.
    :param websocket: whether the glob is for WebSocket URLs.
    :raises GlobError: for nested or unmatched braces, and for a glob that is too long.
    """
    if not glob:
        return Glob(Literals(), LinearPattern(EVERYTHING))
    if len(glob) > MAX_SOURCE and not OPAQUE_CHARACTERS.isdisjoint(glob):
        raise _too_long(glob, f"at most {MAX_SOURCE} are allowed beside wildcards")
    tokens = tokenize(resolve(glob, base_url=base_url, websocket=websocket))
    literals = glob_literals(tokens)
    if literals.exact is not None:
        return Glob(literals)
    try:
        pattern = LinearPattern(translate(tokens))
    except PatternTooLargeError as error:
        raise _too_long(glob, error) from error
    return Glob(literals, pattern, _shapes(tokens))


def _shapes(tokens: Sequence[Token]) -> tuple[TwoStars, ...]:
    found = [TwoStars.from_tokens(plain) for plain in write_out(tokens, MAX_VARIANTS) or ()]
    shapes = tuple(shape for shape in found if shape is not None)
    return shapes if len(shapes) == len(found) else ()


def _too_long(glob: str, why: object) -> GlobError:
    return GlobError(f"a URL glob of {len(glob)} characters is too long: {why}")


def translate(tokens: Sequence[Token]) -> bytes:
    """Translate a glob to an RE2 pattern over bytes.

    :param tokens: see :func:`trafficmock.matching.patterns.glob_tokens.tokenize`.
    :returns: a source for :class:`trafficmock.matching.patterns.linear_regex.LinearPattern`.
    """
    return b"".join(map(_translate, tokens))


def _translate(token: Token) -> bytes:
    if isinstance(token, str):
        return byte_escape(token)
    if isinstance(token, Wildcard):
        return PATTERNS[token]
    return b"(?:" + b"|".join(map(translate, token)) + b")"
