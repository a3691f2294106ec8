"""Secrets in JSON. The text is read as tokens, and what is no secret stays as it was written.

So it works for several documents in a row, for one that is cut off, and for those within another
text, as ``42["login",{"otp":…}]``, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from attrs import define, field, frozen

from trafficmock.redaction.secret_names import VALUE_NAMES, is_about, is_counted, is_secret
from trafficmock.texts.named_fields import is_at

_TOKEN = re.compile(
    r'("[^"\\]*(?:\\.[^"\\]*)*"?)|([{}\[\],:])'
    r"|(-?(?:[0-9][0-9.eE+-]*|Infinity)|true|false|null|NaN)(?![^\s,:\]}\[{\"])|(\S)",
    re.DOTALL,
)
"""A string, a sign, another value, or what is no JSON."""
_STRING, _SIGN, _WORD = 1, 2, 3
_START = re.compile(r'\{\s*["}]|\[\s*["\[{\]0-9tfn-]')
_COLON = re.compile(r"\s*:")
_FOLLOWING = re.compile(r"\s*(?:[,:}\]]|\Z)")
"""What stands behind a string of JSON."""
_HARMLESS = frozenset({"true", "false", "null"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_VARIABLE = re.compile(r"(\w{1,60})(?:\\*[\"'])?\s{0,4}:\s{0,4}\$(\w{1,60})")
MOST_DEPTH = 500
"""Containers deeper than this count as one."""

_NAMING: Final = frozenset(
    {"name", "key", "field", "id", "k", "n", "param", "parameter", "header", "attribute"}
    | {"variable", "property"}
)
_VALUED: Final = frozenset({"value", "values", "val", "v", "content"})
"""Names of pairs, as in ``{"name": "password", "value": …}``."""
_LONGEST_NAME: Final = 60
_PARENTS: Final = frozenset({"number", "id", "key", "code", "verifier", "string"})
"""Names that are secret beneath some others, as ``{"card": {"number": …}}`` is a card number."""

_Span = tuple[int, int, str]
"""Where a value stands, and its token."""


@frozen
class _Judged:
    """What the name of a field says.

    :param is_secret: its value is secret.
    :param is_about: it says something about a secret.
    :param is_naming: its value may be the name of a secret.
    :param is_valued: its value belongs to such a name.
    :param is_special: its value may be secret for another reason.
    """

    is_secret: bool
    is_about: bool
    is_naming: bool
    is_valued: bool
    is_special: bool


def _read_name(name: str) -> _Judged:
    low = name.lower()
    secret, valued = is_secret(name), low in _VALUED
    special = valued or low in VALUE_NAMES or low in _PARENTS
    return _Judged(secret, not secret and is_about(name), low in _NAMING, valued, special)


_usual_name = lru_cache(maxsize=2048)(_read_name)
_UNNAMED = _Judged(False, False, False, False, False)  # noqa: FBT003 - all of them


@define
class _Container:
    """An object or list that is being read.

    :param name: the name in the object of the value that comes.
    :param is_secret: all of it is secret, because of its name.
    :param is_about: its name says something about a secret.
    :param own_name: its name.
    """

    is_object: bool
    is_secret: bool
    is_about: bool
    own_name: str
    name: str | None
    judged: _Judged = _UNNAMED
    index: int = 0
    is_named: bool = False
    """It has the name of a secret as a value, and another value is that secret."""
    is_full: bool = False
    """It has a value behind which no comma came yet."""
    is_next: bool = False
    """The next value of the list is secret, because of the one before."""
    held: _Span | None = None
    """The value that is secret if a name comes that is one."""


@define
class JsonText:
    """Reads JSON, and replaces the secrets in it.

    :param mark: returns what stands for a secret.
    :param text_of: replaces the secrets within a text that is none as a whole.
    :param paths: what is secret besides.
    """

    mark: Callable[[str], str]
    text_of: Callable[[str], str]
    paths: Sequence[Sequence[str]] = ()
    is_whole: bool = field(init=False, default=False)
    """The last text was whole objects and lists, and nothing else."""

    _stack: list[_Container] = field(init=False, factory=list)
    _deeper: int = field(init=False, default=0)
    """Containers that are open beyond :data:`MOST_DEPTH`."""
    _changes: dict[int, tuple[int, str]] = field(init=False, factory=dict)
    _variables: frozenset[str] = field(init=False, default=frozenset())
    """The variables of a GraphQL document that are secret by the names of their arguments."""

    def redacted(self, text: str) -> str:
        """Return the text with marks for the secrets in the documents that stand in it."""
        self._changes = {}
        self._variables = frozenset()
        if "$" in text and '"variables"' in text:
            found = _VARIABLE.findall(text)
            self._variables = frozenset(each for name, each in found if is_secret(name))
        at, self.is_whole = 0, True
        while start := _START.search(text, at):
            self.is_whole = self.is_whole and not text[at : start.start()].strip()
            at = max(self._document(text, start.start()), start.start() + 1)
        self.is_whole = self.is_whole and not text[at:].strip()
        parts, last = [], 0
        for begin, (end, new) in sorted(self._changes.items()):
            parts += [text[last:begin], new]
            last = end
        return "".join([*parts, text[last:]]) if parts else text

    def _document(self, text: str, at: int) -> int:
        """Read one object or list, and return where it ends, or is none any more."""
        stack: list[_Container] = []
        self._stack, self._deeper = stack, 0
        for found in _TOKEN.finditer(text, at):
            kind, piece = found.lastindex, found[0]
            if kind is None or kind > _WORD or (piece not in ",:]}" and self._is_full()):
                break
            start, at = found.span()
            if kind == _STRING:
                end = self._string(text, start, at, piece)
                if end != at:
                    at = end
                    break
            elif kind == _WORD:
                self._value((start, at, piece))
            elif piece == ",":
                self._next()
            elif piece in "{[":
                self._open(is_object=piece == "{")
            elif piece != ":":
                self._close()
                if not stack:
                    return at
        self.is_whole = False
        return at

    def _is_full(self) -> bool:
        """Return whether no further value may come before a comma."""
        return bool(self._stack) and self._stack[-1].is_full and not self._deeper

    def _string(self, text: str, start: int, end: int, piece: str) -> int:
        """Read a string, and return where it ends."""
        if "\n" in piece and not _FOLLOWING.match(text, end):
            # It is cut off at the end of a line, and another text follows.
            piece = piece[: piece.index("\n")]
            self._value((start, start + len(piece), piece))
            return start + len(piece)
        is_named = text[end : end + 1] == ":" or _COLON.match(text, end)
        if self._stack[-1].is_object and is_named:
            self._name((start, end, piece))
        else:
            self._value((start, end, piece))
        return end

    def _next(self) -> None:
        top = self._stack[-1]
        top.name, top.judged = None, _UNNAMED
        top.index += 1
        top.is_full = False

    def _open(self, *, is_object: bool) -> None:
        stack = self._stack
        if len(stack) >= MOST_DEPTH:
            self._deeper += 1
            return
        secret = self._is_secret()
        top = stack[-1] if stack else None
        name = (top.name or "") if top else ""
        about = False
        if top is not None and not secret:
            about = top.judged.is_about if name else top.is_about
        stack.append(_Container(is_object, secret, about, name, None))
        if top:
            top.is_next, top.is_full = False, True

    def _close(self) -> None:
        if self._deeper:
            self._deeper -= 1
            return
        top = self._stack.pop()
        is_pair = not top.is_object and top.index == 1 and self._stack
        if top.held and (is_pair and not self._stack[-1].is_object and top.is_named):
            self._replace(top.held)

    def _name(self, span: _Span) -> None:
        name = unescaped(span[2])
        top = self._stack[-1]
        top.name = name
        top.judged = _usual_name(name) if len(name) <= _LONGEST_NAME else _read_name(name)
        self._put(span, name, self.text_of(name))

    def _value(self, span: _Span) -> None:
        top = self._stack[-1]
        token = span[2]
        is_string = token[0] == '"'
        secret, top.is_next = self._is_secret(), False
        top.is_full = True
        if secret:
            self._replace(span)
            return
        text = unescaped(token) if is_string else token
        if not top.is_object or top.judged.is_naming or top.judged.is_valued:
            self._pair(top, span, text)
        if is_string:
            self._put(span, text, self.text_of(text))

    def _pair(self, top: _Container, span: _Span, text: str) -> None:
        """Remember what a value says about its neighbours: a name, or a value."""
        if not top.is_object:
            flag = text.lstrip("-")
            if top.index == 1:
                top.held = span
            top.is_next = (
                len(text) <= _LONGEST_NAME
                and (
                    flag != text or (not top.index % 2 and top.own_name.lower().endswith("headers"))
                )
                and is_secret(flag)
            )
            top.is_named = top.is_named or (not top.index and _is_name(text))
            return
        if top.judged.is_valued:
            top.held = span
        elif span[2][0] == '"' and _is_name(text):
            top.is_named = True
            if top.held:
                self._replace(top.held)

    def _replace(self, span: _Span) -> None:
        token = span[2]
        if token[0] == '"':
            text = unescaped(token)
            self._put(span, text, self.mark(text))
        elif token not in _HARMLESS and not is_counted(self._stack[-1].name or ""):
            self._changes[span[0]] = (span[1], f'"{self.mark(token)}"')

    def _put(self, span: _Span, old: str, new: str) -> None:
        written = _replaced(span[2], old, new)
        if written is not span[2]:
            self._changes[span[0]] = (span[1], written)

    def _is_secret(self) -> bool:
        """Return whether the value that comes is secret."""
        if not self._stack:
            return False
        top = self._stack[-1]
        if top.is_secret or top.is_next:
            return True
        if top.judged.is_secret:
            return True
        if (top.judged.is_special or self._variables) and self._is_secret_field(top):
            return True
        if not self.paths:
            return False
        path = [(each.name or "") if each.is_object else str(each.index) for each in self._stack]
        return any(is_at(path, each) for each in self.paths)

    def _is_secret_field(self, top: _Container) -> bool:
        """Return whether a field is secret because of the object that it is in."""
        name = top.name or ""
        low = name.lower()
        return (
            (top.is_about and low in VALUE_NAMES)
            or (top.is_named and top.judged.is_valued)
            or (low in _PARENTS and bool(top.own_name) and is_secret(f"{top.own_name}_{low}"))
            or (name in self._variables and top.own_name == "variables")
        )


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and is_secret(text)


def unescaped(token: str) -> str:
    """Return the text of a string, which may be cut off or invalid."""
    inner = token[1:-1] if len(token) > 1 and token.endswith('"') else token[1:]
    if "\\" not in inner:
        return inner
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return inner


def _replaced(token: str, old: str, new: str) -> str:
    if new == old:
        return token
    written = json.dumps(new, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):x}", written)
