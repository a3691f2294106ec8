"""Secrets in XML and HTML: elements and attributes by their names, and names beside values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from attrs import define, field

from trafficmock.redaction.secret_names import is_secret

_TAG = re.compile(
    r"<(?:!\[CDATA\[(?P<cdata>[^<]*?)\]\]>|(?P<end>/?)(?P<name>[A-Za-z_][\w.:-]*)(?P<rest>[^<>]*)>)"
)
_CDATA: Final = "<![CDATA["
_ATTRIBUTE = re.compile(r"([\w:.@-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)")
_NAMING = ("name", "key", "property", "itemprop", "field", "id")
_VALUED = ("value", "content")
_NAMED_ELEMENTS = frozenset(
    {"property", "entry", "string", "item", "add", "setting", "param", "field", "var", "variable"}
    | {"attribute", "header", "data", "textarea", "output", "parameter", "option", "config"}
)
"""Elements whose text is the value of what an attribute names, in any namespace."""
_NAME_ELEMENTS = frozenset({"name", "key"})
"""Elements whose text is a name, and whose next sibling has the value."""
_EMPTY = frozenset({"input", "meta", "link", "br", "img", "hr"})


@define
class MarkupSecrets:
    """Replaces the secrets in elements and attributes of a text with tags.

    Nothing is checked: a text may be cut off, have several documents, or other words.

    :param mark: returns what stands for a secret.
    """

    mark: Callable[[str], str]
    _closed: dict[str, int] = field(init=False, factory=dict)
    """Where the last end of each element stands."""
    _within: str = field(init=False, default="")
    _depth: int = field(init=False, default=0)
    _is_open: bool = field(init=False, default=False)
    """The last tag began an element of a secret that does not end: the text is cut off."""

    def redacted(self, text: str) -> str:
        """Return the text with marks for its secrets."""
        tags = list(_TAG.finditer(text))
        if not tags:
            return text
        self._within, self._depth, self._is_open = "", 0, False
        self._closed = {tag["name"].lower(): tag.start() for tag in tags if tag["end"]}
        return "".join(self._parts(text, tags))

    def _parts(self, text: str, tags: list[re.Match[str]]) -> Iterator[str]:
        last, before, is_next = 0, -1, False
        for tag in tags:
            yield self._content(text[last : tag.start()])
            last = tag.end()
            if tag["cdata"] is not None:
                yield self._cdata(tag["cdata"]) if self._within else tag[0]
                continue
            name = tag["name"].lower()
            if tag["end"]:
                is_next = _local(name) in _NAME_ELEMENTS and _is_name(text, before, tag)
                self._end(name)
                yield tag[0]
                continue
            written, is_value = self._opened(tag, name)
            yield written
            before = tag.end()
            if not tag["rest"].endswith("/") and name not in _EMPTY:
                self._begin(name, tag.start(), is_secret_here=is_value or is_next)
            is_next = False
        yield self._content(text[last:])

    def _begin(self, name: str, at: int, *, is_secret_here: bool) -> None:
        if self._within:
            self._depth += name == self._within
        elif is_secret_here or is_secret(_local(name)):
            self._is_open = self._closed.get(name, -1) < at
            if not self._is_open:
                self._within, self._depth = name, 1

    def _end(self, name: str) -> None:
        if name == self._within:
            self._depth -= 1
            if not self._depth:
                self._within = ""

    def _content(self, content: str) -> str:
        is_cut, self._is_open = self._is_open and not content[:1].isspace(), False
        plain = content.strip()
        if not plain or not (self._within or is_cut):
            return content
        if plain.startswith(_CDATA):
            inner = plain.removeprefix(_CDATA)
            return content.replace(inner, self.mark(inner)) if inner else content
        return content.replace(plain, self.mark(plain))

    def _cdata(self, inner: str) -> str:
        plain = inner.strip()
        return f"{_CDATA}{inner.replace(plain, self.mark(plain)) if plain else inner}]]>"

    def _opened(self, tag: re.Match[str], name: str) -> tuple[str, bool]:
        """Return a tag with marks, and whether the text of its element is secret."""
        rest = tag["rest"]
        if "=" not in rest:
            return tag[0], False
        pairs = {found[1].lower(): found for found in _ATTRIBUTE.finditer(rest)}
        named = any(key in pairs and is_secret(_bare(pairs[key][2])) for key in _NAMING) or (
            name == "input" and "type" in pairs and _bare(pairs["type"][2]) == "password"
        )
        if not named and not ("value" in pairs and is_secret(_local(name))):
            return tag[0], False
        for key in _VALUED:
            if key in pairs:
                start, end = pairs[key].span(2)
                plain = _bare(rest[start:end])
                quote = rest[start] if rest[start] in "\"'" else ""
                new = f"{quote}{self.mark(plain)}{quote}"
                begin = tag.start("rest") - tag.start()
                whole = tag[0]
                return f"{whole[: begin + start]}{new}{whole[begin + end :]}", False
        return tag[0], _local(name) in _NAMED_ELEMENTS


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _bare(value: str) -> str:
    return value[1:-1] if value[:1] in ("'", '"') else value


def _is_name(text: str, before: int, tag: re.Match[str]) -> bool:
    """Return whether an element that ends has the name of a secret."""
    return before >= 0 and is_secret(text[before : min(tag.start(), before + 100)].strip())
