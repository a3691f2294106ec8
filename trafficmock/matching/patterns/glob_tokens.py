"""The grammar of globs: stars, braces, escapes and literal text."""

import enum
import itertools
import math
import re
from collections.abc import Sequence
from typing import Any

import attrs

from trafficmock.errors import LocalError


class GlobError(LocalError):
    """A glob is invalid; the message names the fault and its position."""


class Wildcard(enum.Enum):
    """The wildcards of globs.

    "Any characters" are those of JavaScript's ``.``: all but LF, CR, U+2028 and U+2029.
    """

    SEGMENT = enum.auto()  #: any run without a slash
    ANYTHING = enum.auto()  #: any run of any characters
    DIRECTORIES = enum.auto()  #: nothing, or any characters and a slash


#: Literal text or a wildcard, outside braces or in an alternative within them.
PlainToken = str | Wildcard
#: Literal text, a wildcard, or the alternatives of one pair of braces.
Token = PlainToken | tuple[tuple[PlainToken, ...], ...]

LEXEME = re.compile(r"\*\*+/?|\*|\\.|\\|[{},]|[^*\\{},]+", re.DOTALL)


def tokenize(glob: str) -> tuple[Token, ...]:
    """Parse a resolved glob.

    :param glob: see :func:`trafficmock.matching.patterns.glob_resolution.resolve`.
    :returns: literals, wildcards and groups in braces; neighbouring literals are joined.
    :raises GlobError: for nested and for unmatched braces.
    """
    reader = _Reader(glob)
    for lexeme in LEXEME.finditer(glob):
        reader.read(lexeme[0], lexeme.start())
    return reader.finish()


def write_out(tokens: Sequence[Token], most: int) -> list[tuple[PlainToken, ...]] | None:
    """Expand the braces of a glob.

    :param most: the most globs that may result.
    :returns: the globs without braces; ``None`` if there are more than ``most``.
    """
    choices = [token if isinstance(token, tuple) else ((token,),) for token in tokens]
    if math.prod(map(len, choices)) > most:
        return None
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*choices)]


@attrs.define
class _Reader:
    """The state of the parser between two lexemes.

    :param branches: the finished alternatives of the open brace.
    :param branch: the alternative that is being read.
    :param opened_at: the position of the open brace; ``None`` outside braces.
    """

    glob: str
    tokens: list[Token] = attrs.Factory(list)
    branches: list[tuple[PlainToken, ...]] = attrs.Factory(list)
    branch: list[PlainToken] = attrs.Factory(list)
    opened_at: int | None = None

    def read(self, lexeme: str, position: int) -> None:
        match lexeme:
            case "{":
                self._open(position)
            case "}":
                self._close(position)
            case "," if self.opened_at is not None:
                self._end_branch()
            case "*":
                self._add(Wildcard.SEGMENT)
            case _ if lexeme.startswith("**"):
                self._add_stars(lexeme, position)
            case _ if lexeme.startswith("\\"):
                self._add(lexeme[1:] or lexeme)
            case _:
                self._add(lexeme)

    def finish(self) -> tuple[Token, ...]:
        if self.opened_at is not None:
            raise self._error("no '}' for the '{'", self.opened_at)
        return tuple(self.tokens)

    def _add(self, token: PlainToken) -> None:
        target: list[Any] = self.tokens if self.opened_at is None else self.branch
        if target and isinstance(token, str) and isinstance(target[-1], str):
            target[-1] += token
        else:
            target.append(token)

    def _add_stars(self, lexeme: str, position: int) -> None:
        if not lexeme.endswith("/"):
            self._add(Wildcard.ANYTHING)
        elif position > 0 and self.glob[position - 1] == "/":
            self._add(Wildcard.DIRECTORIES)
        else:
            self._add(Wildcard.ANYTHING)
            self._add("/")

    def _open(self, position: int) -> None:
        if self.opened_at is not None:
            raise self._error("braces cannot be nested: a second '{'", position)
        self.opened_at = position

    def _end_branch(self) -> None:
        self.branches.append(tuple(self.branch))
        self.branch = []

    def _close(self, position: int) -> None:
        if self.opened_at is None:
            raise self._error("no '{' for the '}'", position)
        self._end_branch()
        self.tokens.append(tuple(self.branches))
        self.branches, self.opened_at = [], None

    def _error(self, what: str, position: int) -> GlobError:
        return GlobError(f"{what} at character {position + 1} of the URL glob {self.glob!r}")
