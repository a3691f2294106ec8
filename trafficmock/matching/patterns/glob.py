"""URL globs, as protocol 3 defines them (``docs/protocol/objects.md``)."""

from collections.abc import Sequence
from operator import methodcaller

import attrs

from trafficmock.matching.patterns.glob_resolution import OPAQUE_CHARACTERS, resolve
from trafficmock.matching.patterns.glob_shapes import TwoStars
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
    as_subject,
    byte_escape,
)
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import MatchResult
from trafficmock.matching.patterns.url_literals import MAX_VARIANTS, Literals, glob_literals

ANY_CHARACTER = rb"(?:[^\n\r\xe2]|\xe2[^\x80]|\xe2\x80[^\xa8\xa9])"
PATTERNS = {
    Wildcard.SEGMENT: rb"[^/]*",
    Wildcard.ANYTHING: ANY_CHARACTER + rb"*",
    Wildcard.DIRECTORIES: rb"(?:" + ANY_CHARACTER + rb"+/)?",
}
#: The pattern of the empty glob, which matches every URL.
EVERYTHING = rb"[\x00-\xff]*"


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
        found = self._without_pattern(JudgedUrl(url))
        if found is None and self.pattern is not None:
            return self.pattern.fullmatch(as_subject(url))
        return bool(found)

    def judge(self, subject: JudgedUrl, budget: MatchBudget) -> MatchResult:
        """Compare a URL with the glob; ``UNDECIDABLE`` if that takes too many steps.

        :param subject: a whole URL, with query and fragment.
        :param budget: bounds the steps.
        """
        found = self._without_pattern(subject)
        if found is None and self.pattern is not None:
            return budget.fullmatch(self.pattern, subject)
        return MatchResult.YES if found else MatchResult.NO

    def _without_pattern(self, subject: JudgedUrl) -> bool | None:
        """Return whether the glob matches; ``None`` if only the RE2 pattern can decide."""
        literals, url = self.literals, subject.url
        if self.pattern is None:
            return url == literals.exact
        if literals.needle not in url:
            return False
        if self.shapes and subject.printable:
            return any(map(methodcaller("fullmatch", url), self.shapes))
        return None


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
