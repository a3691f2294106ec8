"""Secrets in JSON. The text is read as tokens, and what is no secret stays as it was written.

So it works for several documents in a row, and for one that is cut off, too.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.redaction.added_fields import is_at
from trafficmock.redaction.secret_names import is_counted, is_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_COLON = re.compile(r"\s*:")
_HARMLESS = frozenset({"true", "false", "null"})
_SURROGATE = re.compile("[\ud800-\udfff]")
MOST_DEPTH = 500
"""Containers deeper than this count as one."""


@define
class _Container:
    """An object or list that is being read.

    :param name: the name in the object, or the index in the list, of the value that comes.
    :param is_secret: all of it is secret, because of its name.
    """

    is_object: bool
    is_secret: bool
    name: str | None


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
    """The last text was whole objects and lists."""

    _stack: list[_Container] = field(init=False, factory=list)

    def redacted(self, text: str) -> str:
        """Return the text with marks for its secrets."""
        stack: list[_Container] = []
        self._stack = stack
        self.is_whole = True
        parts, last = [], 0
        for found in _TOKEN.finditer(text):
            piece = found[0]
            if piece in "{[":
                self._open(is_object=piece == "{")
            elif piece in "}]":
                self.is_whole = self.is_whole and bool(stack)
                if stack:
                    stack.pop()
            elif piece == ",":
                self._next()
            elif piece != ":":
                after = text[found.end() : found.end() + 1]
                is_name = piece[0] == '"' and (after == ":" or _COLON.match(text, found.end()))
                new = self._name(piece) if is_name else self._value(piece)
                if new != piece:
                    parts += [text[last : found.start()], new]
                    last = found.end()
        self.is_whole = self.is_whole and not stack
        return "".join([*parts, text[last:]])

    def _open(self, *, is_object: bool) -> None:
        if len(self._stack) < MOST_DEPTH:
            name = None if is_object else "0"
            self._stack.append(_Container(is_object, self._is_secret(), name))

    def _next(self) -> None:
        if self._stack:
            top = self._stack[-1]
            top.name = None if top.is_object else str(int(top.name or 0) + 1)

    def _name(self, token: str) -> str:
        name = unescaped(token)
        if self._stack and self._stack[-1].is_object:
            self._stack[-1].name = name
        else:
            self.is_whole = False
        return _replaced(token, name, self.text_of(name))

    def _value(self, token: str) -> str:
        if not self._stack:
            self.is_whole = False
        is_string = token[0] == '"'
        if self._is_secret():
            if is_string:
                text = unescaped(token)
                return _replaced(token, text, self.mark(text))
            top = self._stack[-1]
            if token in _HARMLESS or is_counted(top.name or ""):
                return token
            return f'"{self.mark(token)}"'
        if not is_string:
            return token
        text = unescaped(token)
        return _replaced(token, text, self.text_of(text))

    def _is_secret(self) -> bool:
        """Return whether the value that comes is secret."""
        if not self._stack:
            return False
        top = self._stack[-1]
        if top.is_secret or (top.is_object and top.name is not None and is_secret(top.name)):
            return True
        if not self.paths:
            return False
        path = [each.name or "" for each in self._stack]
        return any(is_at(path, each) for each in self.paths)


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
