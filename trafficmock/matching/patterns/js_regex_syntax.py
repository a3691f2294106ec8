"""Translates regular expressions of JavaScript to RE2, as far as both agree about their meaning.

A regular expression is parsed atom by atom and written anew, so that no syntax reaches RE2 that
this module does not know. The result is only used for URLs of printable ASCII: no newlines,
no astral characters, no case folding beyond letters (see
:mod:`trafficmock.matching.patterns.regex`), which makes ``.``, ``$`` and ``^`` simple.
"""

import re
import string

import attrs

from trafficmock.errors import LocalError

MAX_LENGTH = 2_000
MAX_DEPTH = 40

DIGITS = frozenset(map(ord, string.digits))
WORD = frozenset(map(ord, string.ascii_letters + string.digits + "_"))
SPACE = frozenset(b"\t\n\v\f\r ")
ASCII_SIZE = 128
ASCII = frozenset(range(ASCII_SIZE))
CLASS_ESCAPES = {
    "d": DIGITS,
    "D": ASCII - DIGITS,
    "w": WORD,
    "W": ASCII - WORD,
    "s": SPACE,
    "S": ASCII - SPACE,
}
CONTROL_ESCAPES = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
ASSERTIONS = {"^": rb"\A", "$": rb"\z", r"\b": rb"\b", r"\B": rb"\B"}
ASSERTION = re.compile(r"[$^]|\\[bB]")
QUANTIFIER = re.compile(r"(?:([*+?])|\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\})\??")
CODE_ESCAPE = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})")
#: Characters that are syntax unless escaped, or that JavaScript accepts only in its legacy syntax.
SYNTAX = frozenset("\\*+?()[]{}|")
#: Characters that stand for themselves when escaped.
PUNCTUATION = frozenset(string.punctuation) - {"_"}


class UnsupportedRegexError(LocalError):
    """The regular expression is invalid, or not in the common subset of JavaScript and RE2."""


@attrs.frozen
class Atom:
    """One atom of a regular expression, with its quantifier.

    :param pattern: the atom in RE2 syntax.
    :param text: the character, if the atom matches exactly one.
    :param assertion: whether the atom matches no character; then it cannot be repeated.
    """

    pattern: bytes
    text: str | None = None
    assertion: bool = False


@attrs.define
class PatternReader:
    """Translates one regular expression.

    :param source: the ``source`` of the ``RegExp``, without slashes around it.
    :param ignore_case: the flag ``i``.
    """

    source: str
    ignore_case: bool
    #: Literal texts that every matching URL contains; set by :meth:`read`.
    texts: list[str] = attrs.field(init=False, factory=lambda: [""])
    _position: int = attrs.field(init=False, default=0)

    def read(self) -> bytes:
        """Translate the regular expression.

        :returns: a pattern in RE2 syntax for URLs of printable ASCII.
        :raises UnsupportedRegexError: for syntax that is invalid or not in the common subset.
        """
        if len(self.source) > MAX_LENGTH:
            raise UnsupportedRegexError(f"longer than {MAX_LENGTH} characters")
        branches = self._branches(depth=0)
        if self._position < len(self.source):
            raise self._unsupported()
        if len(branches) > 1:
            self.texts = []
        return _alternatives(branches)

    def _branches(self, depth: int) -> list[bytes]:
        if depth > MAX_DEPTH:
            raise UnsupportedRegexError(f"groups are nested deeper than {MAX_DEPTH}")
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        return branches

    def _sequence(self, depth: int) -> bytes:
        patterns = []
        while self._peek() not in ("", "|", ")"):
            atom = self._quantified(self._atom(depth))
            patterns.append(atom.pattern)
            if depth == 0:
                self._note(atom.text)
        return b"".join(patterns)

    def _note(self, text: str | None) -> None:
        if text is None:
            self.texts.append("")
        else:
            self.texts[-1] += text

    def _atom(self, depth: int) -> Atom:
        if (assertion := ASSERTION.match(self.source, self._position)) is not None:
            self._position = assertion.end()
            return Atom(ASSERTIONS[assertion[0]], assertion=True)
        if self._take("("):
            return Atom(self._group(depth))
        if self._take("["):
            return Atom(_write(self._class()))
        if self._take("."):
            return Atom(_write(ASCII))
        if self._peek() in SYNTAX and self._peek() != "\\":
            raise self._unsupported()
        codes = self._fold(self._codes())
        return Atom(_write(codes), text=chr(*codes) if len(codes) == 1 else None)

    def _group(self, depth: int) -> bytes:
        if self._take("?") and not self._take(":"):
            raise self._unsupported()
        branches = self._branches(depth + 1)
        if not self._take(")"):
            raise self._unsupported()
        return _alternatives(branches)

    def _quantified(self, atom: Atom) -> Atom:
        found = QUANTIFIER.match(self.source, self._position)
        if found is None:
            return atom
        sign, low, comma, high = found.groups()
        if atom.assertion or (high and int(low) > int(high)):
            raise self._unsupported()
        self._position = found.end()
        # The numbers are written anew, because for RE2 braces with leading zeros are text.
        quantifier = sign or f"{{{int(low)}{comma or ''}{int(high) if high else ''}}}"
        # The `?` of a lazy quantifier is dropped: it changes the length of a match only.
        return Atom(b"(?:" + atom.pattern + b")" + quantifier.encode())

    def _class(self) -> frozenset[int]:
        negated = self._take("^")
        members: set[int] = set()
        while not self._take("]"):
            codes = self._codes()
            if self._peek() == "-" and self._peek(1) != "]":
                codes = self._range(codes)
            members |= codes
        folded = self._fold(frozenset(members))
        return ASCII - folded if negated else folded

    def _range(self, first: frozenset[int]) -> frozenset[int]:
        self._take("-")
        last = self._codes()
        if len(first) != 1 or len(last) != 1 or min(first) > min(last):
            raise self._unsupported()
        return frozenset(range(min(first), min(last) + 1))

    def _codes(self) -> frozenset[int]:
        """Read one character, or an escape of one character or of a class."""
        escaped = self._take("\\")
        character = self._peek()
        if not (character.isascii() and character.isprintable() and character):
            raise self._unsupported()
        self._position += 1
        if not escaped or character in PUNCTUATION:
            return frozenset({ord(character)})
        if character in CLASS_ESCAPES:
            return CLASS_ESCAPES[character]
        if character in CONTROL_ESCAPES:
            return frozenset({ord(CONTROL_ESCAPES[character])})
        return self._numbered(CODE_ESCAPE.match(self.source, self._position - 1))

    def _numbered(self, escape: re.Match[str] | None) -> frozenset[int]:
        code = ASCII_SIZE if escape is None else int(escape[1] or escape[2], 16)
        if escape is None or code >= ASCII_SIZE:
            raise self._unsupported()
        self._position = escape.end()
        return frozenset({code})

    def _fold(self, codes: frozenset[int]) -> frozenset[int]:
        if not self.ignore_case:
            return codes
        return codes.union(ord(chr(code).swapcase()) for code in codes)

    def _peek(self, ahead: int = 0) -> str:
        return self.source[self._position + ahead : self._position + ahead + 1]

    def _take(self, character: str) -> bool:
        found = self._peek() == character
        self._position += found
        return found

    def _unsupported(self) -> UnsupportedRegexError:
        return UnsupportedRegexError(
            f"{self.source!r} is not in the common subset, see character {self._position + 1}"
        )


def _alternatives(branches: list[bytes]) -> bytes:
    return b"(?:" + b"|".join(branches) + b")"


def _write(codes: frozenset[int]) -> bytes:
    """Return the RE2 class of a set of ASCII codes."""
    if not codes:
        return rb"[^\x00-\xff]"
    starts = sorted(code for code in codes if code - 1 not in codes)
    ends = sorted(code for code in codes if code + 1 not in codes)
    ranges = (b"\\x%02x-\\x%02x" % pair for pair in zip(starts, ends, strict=True))
    return b"[" + b"".join(ranges) + b"]"
