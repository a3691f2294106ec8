"""Texts whose parts say what they quote of traffic, for a redactor where they are written or sent.

What decides makes these texts, and knows no secrets. Where a text leaves the service, a redactor
writes it (:meth:`trafficmock.redaction.redactor.Redactor.written`). Without that, it has none of
the values that may be secret: a place that forgets the redactor says less, and tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, Self

from attrs import frozen

_USER = re.compile(r"^([^/?#]*//)?[^/?#]*@")
_NOTHING = "…"


@frozen
class Quote:
    """What a text quotes of traffic.

    :param how: what it is: a ``url``, which may be relative or only a query; any ``text``; or
        a ``whole`` text that has parts itself.
    :param value: what the traffic has.
    :param most: the most characters that are shown.
    :param quoted: whether it is shown as a literal of Python.
    """

    how: Literal["url", "text", "whole"]
    value: str
    most: int | None = None
    quoted: bool = False

    def cut(self, shown: str) -> str:
        """Return what is shown, as long and quoted as it may be."""
        if self.most is not None and len(shown) > self.most:
            shown = f"{shown[: self.most - 1]}…"
        return repr(shown) if self.quoted else shown

    @property
    def without_values(self) -> str:
        """What is shown without a redactor: of a URL its origin and path, of a text nothing."""
        match self.how:
            case "url":
                base, mark, _ = self.value.partition("#")[0].partition("?")
                return self.cut(_USER.sub(r"\1...@", base) + (mark and "?…"))
            case "text":
                return self.cut(self.value and _NOTHING)
        return self.cut(str(self.value))


@frozen
class Valued:
    """Words that depend on whether the value at a place of a request is secret.

    :param part: the part of the request, as is ``path`` of conditions.
    :param value: the words if it is no secret.
    :param otherwise: the words if it is one, or if nobody can tell.
    """

    part: str
    path: Sequence[str | int]
    value: str
    otherwise: str


class Wording(str):
    """A text of texts and quotes; as a text, it has none of the values that it quotes.

    Formatting makes such a text of it, so these are put together by this class.

    :ivar parts: the texts and quotes, in their order.
    """

    __slots__ = ("parts",)
    parts: tuple[str | Quote | Valued, ...]

    def __new__(cls, *pieces: str | Quote | Valued) -> Self:
        """Make one of texts and quotes, in their order."""
        parts = [part for each in pieces for part in parts_of(each)]
        made = super().__new__(cls, "".join(map(_plain, parts)))
        made.parts = tuple(parts)
        return made

    def capitalized(self) -> Wording:
        """Return the text with its first letter in upper case, if it begins with words of ours."""
        first, *rest = self.parts
        return Wording(
            f"{first[:1].upper()}{first[1:]}" if isinstance(first, str) else first, *rest
        )


def parts_of(text: str | Quote | Valued) -> tuple[str | Quote | Valued, ...]:
    """Return the parts of a text, one for a text of ours."""
    return text.parts if isinstance(text, Wording) else (text,)


def joined(separator: str, texts: Iterable[str]) -> Wording:
    """Return texts as one, as :meth:`str.join` does."""
    pieces = [piece for text in texts for piece in (separator, text)]
    return Wording(*pieces[1:])


def url_text(url: str, most: int | None = None, *, quoted: bool = False) -> Wording:
    """Return a URL, or a part of one from its path or query on, as a text."""
    return Wording(Quote("url", url, most, quoted))


def free_text(text: str, most: int | None = None) -> Wording:
    """Return any text that may have secrets, also one that has parts."""
    return Wording(Quote("text", text, most))


def unredacted(text: str) -> str:
    """Return all that a text quotes, for comparisons: it is never to be written."""
    parts = parts_of(text)
    return "".join(each if isinstance(each, str) else unredacted(each.value) for each in parts)


def cut(text: str, most: int) -> Wording:
    """Return a text of which no more than these characters are shown."""
    return Wording(Quote("whole", text, most))


def quoted(text: str) -> Wording:
    """Return a text that is shown as a literal of Python."""
    return Wording(Quote("whole", text, quoted=True))


def _plain(part: str | Quote | Valued) -> str:
    if isinstance(part, Quote):
        return part.without_values
    return str(part.otherwise if isinstance(part, Valued) else part)
