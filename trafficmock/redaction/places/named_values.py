"""Names and values that stand side by side in any text, whatever stands before and behind them.

``name=value``, ``name: value``, ``"name": "value"``, ``'name' => b'value'``, ``--name value``, also
escaped as in a string of JSON, in HTML, or in a URL; and the object or list that follows a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote, unquote_plus

from attrs import define

from trafficmock.redaction import secret_names
from trafficmock.redaction.json_secrets import unescaped
from trafficmock.texts.byte_patterns import BytePattern
from trafficmock.texts.marked_texts import MARK

_QUOTES: Final = r"\\{0,7}[\"']|&(?:quot|apos|#34|#39|#x27|#x22);|%22|%27"
_AFTER_NAME: Final = (
    rf"(?:{_QUOTES})?(?:\]|%5[Dd]){{0,2}}(?:\[[A-Za-z0-9_]{{0,20}}\])?[ \t]{{0,4}}"
    r"(?:=>|->|:=|={1,3}|:|%3[DdAa])(?:[ \t]{0,4}|%20|\+)"
)
_LONG_NAME: Final = (
    rf"(?:set[-_]?)?(?:{secret_names.NAMES}|{secret_names.SPACED_NAMES})[A-Za-z0-9_.-]{{0,40}}"
)
_SHORT_NAME: Final = rf"\b(?:{secret_names.SHORT})"
_AFTER_SHORT_NAME: Final = (
    rf"(?:(?:{_QUOTES})[ \t]{{0,4}}(?:=>|:|=|%3[DdAa])[ \t]{{0,4}}|={{1,3}}|=>|%3[Dd])"
)
"""A short name is a word of its own, in quotes or with an equals sign: others are usual words."""

_BLOCK: Final = r'"""(?:[^"]|"{1,2}[^"])+"""'
_STRING: Final = r'[bBrRuUfF]{0,2}"(?:[^"\\\r\n]|\\[^\r\n])+'
_SINGLE: Final = r"[bBrRuUfF]{0,2}'(?:[^'\\\r\n]|\\[^\r\n])+"
_ESCAPED: Final = r'\\"(?:[^"\\\r\n]|\\\\(?:\\[^\r\n])?)+'
_ESCAPED_AGAIN: Final = r"\\{1,7}[\"'][^\"'\\\r\n]+"
_IN_HTML: Final = r"&(?:quot|apos|#34|#39|#x27|#x22);[^&<>\r\n]+"
_IN_URL: Final = r"(?:%22|%27)(?:[^%& \t\r\n\"'<>]|%(?:[013-9A-Fa-f][0-9A-Fa-f]|2[013-689A-Fa-f]))+"
_DIGITS: Final = r"[0-9]{4}(?:[ -][0-9]{2,6}){2,4}"
_WORD: Final = r"[^ \t\r\n\"'&<>\\;,}\]{\[][^ \t\r\n\"'&<>\\;,}\]]*"
_CALL: Final = r"[A-Za-z_][A-Za-z0-9_.:]{0,40}\([\"'][^\"'\r\n]+"
_QUOTED: Final = f"{_BLOCK}|{_STRING}|{_SINGLE}|{_ESCAPED}|{_ESCAPED_AGAIN}|{_CALL}"
_VALUES: Final = f"{_QUOTED}|{_IN_HTML}|{_IN_URL}|{_DIGITS}|{_WORD}"
_SCHEME: Final = rf"((?:{secret_names.SCHEMES}[ \t]{{1,4}})?)"

_PAIR = BytePattern(rf"({_LONG_NAME})({_AFTER_NAME}){_SCHEME}({_VALUES})", any_case=True)
_SHORT_PAIR = BytePattern(
    rf"({_SHORT_NAME})({_AFTER_SHORT_NAME}){_SCHEME}({_VALUES})", any_case=True
)
_SHORT_QUOTED = BytePattern(
    rf"({_SHORT_NAME})([ \t]{{0,4}}[:=][ \t]{{0,4}})()({_QUOTED}|{_IN_HTML})", any_case=True
)
_OPTION = BytePattern(
    rf"(--?[a-z0-9_-]{{0,30}}?(?:{secret_names.NAMES}|pin|otp)[a-z0-9_-]{{0,20}})( )()"
    r"(\"[^\"\r\n]+|'[^'\r\n]+|[^ \t\r\n\"'<>\[\]{}-][^ \t\r\n\"']*)",
    any_case=True,
)
_PARAMETER = BytePattern(
    r"([?&;#!](?:amp;)?[#!/]{0,2}(?:[A-Za-z0-9_.%\[-]{0,40}(?:\[|%5[Bb]|\.))?"
    rf"(?:{secret_names.SHORT}|key|code)(?:\[|\]|%5[BbDd]){{0,3}}=)"
    r"([^&#? \t\r\n\"'<>\\]*[^&#? \t\r\n\"'<>\\.,:;)\]}])",
    any_case=True,
)
_CONTAINER = BytePattern(
    rf"(?:({_LONG_NAME})(?:{_AFTER_NAME})"
    rf"|({_SHORT_NAME})(?:{_AFTER_SHORT_NAME}|:[ \t]{{0,4}}))[\[{{]",
    any_case=True,
)
_KEY_OF_PAIR: Final = (
    r"[\"'](?:name|key|field|param|parameter|header)[\"'][ \t]{0,4}(?::|=>)[ \t]{0,4}[\"']"
    rf"[^\"'\r\n]{{0,40}}(?:{_LONG_NAME}|{_SHORT_NAME}\b)[\"']"
)
_VALUE_OF_PAIR: Final = r"[\"']value[\"'][ \t]{0,4}(?::|=>)[ \t]{0,4}"
_NAME_VALUE = BytePattern(
    rf"({_KEY_OF_PAIR}[^{{}}\[\]]{{0,200}}?{_VALUE_OF_PAIR})({_VALUES})()", any_case=True
)
_VALUE_NAME = BytePattern(
    rf"({_VALUE_OF_PAIR})({_VALUES})([^{{}}\[\]]{{0,200}}?{_KEY_OF_PAIR})", any_case=True
)

_TUPLE = BytePattern(
    rf"(\([ \t]{{0,4}}[\"'](?:[A-Za-z0-9_.-]{{0,40}}(?:{_LONG_NAME})|{_SHORT_NAME})[\"'],"
    r"[ \t]{0,4})"
    rf"({_STRING}|{_SINGLE})([\"'][ \t]{{0,4}},?[ \t]{{0,4}}\))",
    any_case=True,
)
_USER = BytePattern(
    r"((?:^|[ \t\"',\[])(?:-u|--user)[ =][\"']?[^ \t\r\n:\"']{1,80}:)([^ \t\r\n\"']+)()"
)

_OPENING = re.compile(
    r"^(?:[A-Za-z_][A-Za-z0-9_.:]{0,40}\([\"']|[bBrRuUfF]{0,2}(?:\"\"\"|[\"'])|\\+[\"']|&[a-z0-9#]{3,5};|%2[27])"
)
_PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_]*")
_BLOCK_MARKS = frozenset({"|", ">", "|-", ">-", "|+", ">+"})
_WORDS = frozenset({"true", "false", "null", "none", "undefined", "nil"})
_LINE_NAMES = frozenset({"cookie", "cookie2", "set-cookie", "set-cookie2"})
_SCHEME_WORD = re.compile(rf"\s*{secret_names.SCHEMES}\s*", re.IGNORECASE)

_BRACKETS = re.compile(r"[\[\]{}]")
_TOKEN = re.compile(
    rf"{MARK.pattern.partition('|')[0]}"
    r'|\\+"[^"\\]*\\*"?|"[^"\\]*(?:\\.[^"\\]*)*"?'
    r"|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*'?|[{}\[\],:]|=>|=|[^\s\"'{}\[\],:=\\]+|\\",
    re.DOTALL,
)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_IS_NAME = re.compile(r"[ \t]*(?:=>|[:=])")
_LONGEST_LENIENT = 10_000
"""The most characters of an object or list that is not JSON, as ``{value=…}``."""


@define
class NamedValues:
    """Replaces the values that stand beside the names of secrets in a text.

    :param mark: returns what stands for a secret.
    """

    mark: Callable[[str], str]

    def redacted(self, text: str) -> str:
        """Return the text with marks for its secrets."""
        if "[" in text or "{" in text:
            text = self._containers(text)
            text = _NAME_VALUE.replace(text, self._named_value)
            text = _VALUE_NAME.replace(text, self._named_value)
        if "(" in text:
            text = _TUPLE.replace(text, self._named_value)
        text = self.pairs(text)
        if "-" in text:
            text = _OPTION.replace(text, self._option)
            text = _USER.replace(text, self._named_value)
        return _PARAMETER.replace(text, self._parameter)

    def pairs(self, text: str) -> str:
        """Return it with marks for the values right behind a name."""
        text = _PAIR.replace(text, self._pair)
        text = _SHORT_PAIR.replace(text, self._pair)
        return _SHORT_QUOTED.replace(text, self._pair)

    def _pair(self, groups: Sequence[str]) -> str:
        name, between, scheme, value = groups
        opening = _OPENING.match(value)
        if not secret_names.is_secret(name) or self._is_kept(name, value, is_bare=not opening):
            return "".join(groups)
        return f"{name}{between}{scheme}{self._marked(value)}"

    def _named_value(self, groups: Sequence[str]) -> str:
        before, value, after = groups
        return f"{before}{value if '[redacted:' in value else self._marked(value)}{after}"

    def _option(self, groups: Sequence[str]) -> str:
        name, space, _, value = groups
        kept = _PLACEHOLDER.fullmatch(value) or self._is_kept(name, value, is_bare=True)
        if kept or not secret_names.is_secret(name.lstrip("-")):
            return "".join(groups)
        return f"{name}{space}{self._marked(value)}"

    def _parameter(self, groups: Sequence[str]) -> str:
        name, value = groups
        return f"{name}{value if '[redacted:' in value else self.mark(unquote_plus(value))}"

    def _is_kept(self, name: str, value: str, *, is_bare: bool) -> bool:
        """Return whether a value is no secret, but a word before one, for example."""
        if "[redacted:" in value:
            return True
        if not is_bare:
            return False
        low = name.lower()
        return (
            value.lower() in _WORDS
            or value in _BLOCK_MARKS
            or (low in _LINE_NAMES and "=" in value)
            or _SCHEME_WORD.fullmatch(value) is not None
            or ((low == "pass" or secret_names.is_counted(name)) and value.rstrip(".)").isdecimal())
        )

    def _marked(self, value: str) -> str:
        """Return a value with a mark for it, in its quotes."""
        opening = _OPENING.match(value)
        start = opening[0] if opening else ""
        plain = value[len(start) :]
        if start.endswith('"""'):
            plain = plain.removesuffix('"""')
            return f"{start}{self.mark(plain)}" + '"""'
        if start == '"':
            plain = unescaped(f'"{plain}"')
        if start.startswith("%"):
            plain = unquote(plain)
        return f"{start}{self.mark(plain)}" if plain else value

    def _containers(self, text: str) -> str:
        """Replace what stands in an object or list behind a name."""
        closing: dict[int, int] | None = None
        parts, last = [], 0
        for name, end in _CONTAINER.ends(text):
            at = end - 1
            if at < last or not secret_names.is_secret(name) or MARK.match(text, at):
                continue
            inside, after, is_whole = self._strict(text, at)
            if not is_whole:
                closing = _closing(text) if closing is None else closing
                close = closing.get(at, -1)
                if after <= close < at + _LONGEST_LENIENT:
                    after = close + 1
                    inside = "".join(self._values(text[at:after]))
            parts += [text[last:at], inside]
            last = after
        return "".join([*parts, text[last:]]) if parts else text

    def _strict(self, text: str, at: int) -> tuple[str, int, bool]:
        """Replace the values of a container of JSON.

        :returns: what stands in its place, where it ends, and whether it ends there. One that is
            cut off, or no JSON, is read as far as it is some.
        """
        depth, end = 0, at
        for found in _TOKEN.finditer(text, at):
            piece = found[0]
            if piece in "{[":
                depth += 1
            elif piece in "}]":
                depth -= 1
            elif piece[0] not in "\"'\\,:[" and not _is_plain(piece):
                break
            end = found.end()
            if depth == 0:
                return "".join(self._values(text[at:end])), end, True
        return "".join(self._values(text[at:end])), end, False

    def _values(self, text: str) -> Iterator[str]:
        last = 0
        for found in _TOKEN.finditer(text):
            piece = found[0]
            yield text[last : found.start()]
            last = found.end()
            is_value = piece not in "{}[],:=>\\" and piece.lower() not in _WORDS
            if not is_value or piece[0] == "[" or _IS_NAME.match(text, last):
                yield piece
            elif piece[0] in "\"'\\":
                yield self._string(piece)
            elif _NUMBER.fullmatch(piece):
                yield f'"{self.mark(piece)}"'
            else:
                yield self.mark(piece)
        yield text[last:]

    def _string(self, token: str) -> str:
        opening = token[: len(token) - len(token.lstrip("\\"))] + token.lstrip("\\")[:1]
        ends = len(token) > 2 * len(opening) - 1 and token.endswith(opening)
        inner = token[len(opening) : len(token) - len(opening) * ends]
        plain = unescaped(f'"{inner}"') if opening == '"' else inner
        return f"{opening}{self.mark(plain)}{opening * ends}"


def _is_plain(piece: str) -> bool:
    return piece.lower() in _WORDS or _NUMBER.fullmatch(piece) is not None


def _closing(text: str) -> dict[int, int]:
    """Return where each bracket is closed that is."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] in "[{":
            opened.append(bracket.start())
        elif opened and (text[opened[-1]] == "[") == (bracket[0] == "]"):
            found[opened.pop()] = bracket.start()
    return found
