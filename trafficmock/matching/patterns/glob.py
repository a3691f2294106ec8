"""URL globs: one string that names many URLs, read as protocol 3 reads it."""

from collections.abc import Sequence

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
#: The empty glob is no pattern of its own: it matches whatever comes.
EVERYTHING = rb"[\x00-\xff]*"


@attrs.frozen(eq=False)
class Glob:
    """A URL glob that is ready to be compared with URLs.

    :param literals: what a URL must contain to match.
    :param pattern: the whole glob; none is needed when the literals are exact.
    :param shapes: a quicker way for ordinary URLs, one for each way through the braces, if
        the glob is simple enough.
    """

    literals: Literals
    pattern: LinearPattern | None = None
    shapes: tuple[TwoStars, ...] = ()

    def fullmatch(self, url: str) -> bool:
        """Tell whether the glob matches, in time linear in the URL's length.

        :param url: a whole URL, query and fragment included.
        """
        found = self._without_pattern(JudgedUrl(url))
        if found is None and self.pattern is not None:
            return self.pattern.fullmatch(as_subject(url))
        return bool(found)

    def judge(self, subject: JudgedUrl, budget: MatchBudget) -> MatchResult:
        """Tell whether the glob matches, or that this takes too many steps.

        :param subject: a whole URL, query and fragment included.
        :param budget: what judging may cost.
        """
        found = self._without_pattern(subject)
        if found is None and self.pattern is not None:
            return budget.fullmatch(self.pattern, subject)
        return MatchResult.YES if found else MatchResult.NO

    def _without_pattern(self, subject: JudgedUrl) -> bool | None:
        """Tell whether it matches where that is simple; ``None`` where the pattern must tell."""
        literals, url = self.literals, subject.url
        if self.pattern is None:
            return url == literals.exact
        if literals.needle not in url:
            return False
        if self.shapes and subject.printable:
            return any(shape.fullmatch(url) for shape in self.shapes)
        return None


def compile_glob(glob: str, *, base_url: str | None = None, websocket: bool = False) -> Glob:
    """Read a glob with all that protocol 3 says about it.

    :param glob: the glob as the test wrote it; an empty one matches every URL.
    :param base_url: the test's base URL, for relative globs.
    :param websocket: the glob is for WebSocket URLs.
    :raises GlobError: its braces are nested or unmatched, or it is too long.
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
    """Write a glob as a pattern over bytes.

    :param tokens: see :func:`trafficmock.matching.patterns.glob_tokens.tokenize`.
    :return: a source for :class:`trafficmock.matching.patterns.linear_regex.LinearPattern`.
    """
    return b"".join(map(_translate, tokens))


def _translate(token: Token) -> bytes:
    if isinstance(token, str):
        return byte_escape(token)
    if isinstance(token, Wildcard):
        return PATTERNS[token]
    return b"(?:" + b"|".join(map(translate, token)) + b")"
