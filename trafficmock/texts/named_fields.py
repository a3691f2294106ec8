"""The fields of messages that a user names, as ``header:x-customer`` or ``json:user.email``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from attrs import define, field, frozen

from trafficmock.errors import LocalError
from trafficmock.texts.byte_patterns import BytePattern, InvalidPatternError

MOST_WORDS = 1000
"""The most words of one list."""
MOST_CHARACTERS = 32 * 1024
"""The most characters of all words of one list."""
MOST_PATHS = 200
"""The most paths in JSON in one list."""
MOST_INSTRUCTIONS = 20_000
"""The most instructions of all patterns of one list; ordinary ones have less than 100."""

OFF = "off"
ON = "on"
ALLOWED = (
    "header:NAME, query:NAME, json:PATH, form:NAME, regex:PATTERN, or the word off; "
    "for example header:x-customer or json:user.email"
)

_LINES = (
    ("header", r"(?m)(^|[ \t\"'(,{])((?:%s)[\"']?[ \t]*:[ \t]*[\"']?)([^\r\n\"']+)", True),
    ("query", r"([?&])((?:%s)=)([^&# \t\r\n\"'<>]*[^&# \t\r\n\"'<>.,:;)])", False),
)
"""How headers and parameters stand in a text, and whether the case of their names is ignored."""

_INSTRUCTIONS = f"{MOST_INSTRUCTIONS} instructions of patterns"
_MOST_QUOTED = 100
_STEP = re.compile(r"\[(\d+|\*)\]|\.?([^.\[\]]+)")


class InvalidFieldError(LocalError):
    """What a user named is no field."""


@frozen
class NamedFields:
    """The fields that a user named, as secret for example.

    :ivar headers: names in lower case.
    :ivar query: names of parameters.
    :ivar form: names of the fields of forms.
    :ivar paths: paths in JSON, each as names, indices, ``*`` for one, ``**`` for any number.
    :ivar patterns: what they match is secret.
    :ivar lines: find the headers and parameters in texts: their last group is secret.
    :ivar words: the fields as the user wrote them.
    """

    headers: frozenset[str] = frozenset()
    query: frozenset[str] = frozenset()
    form: frozenset[str] = frozenset()
    paths: tuple[tuple[str, ...], ...] = ()
    patterns: tuple[BytePattern, ...] = field(default=(), eq=False)
    lines: tuple[BytePattern, ...] = field(default=(), eq=False)
    words: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, words: Iterable[str], option: str = "redact", *, known_only: bool = False
    ) -> NamedFields | None:
        """Read what a user wrote.

        :param words: fields such as ``header:NAME``; ``on`` is ignored, and so is a repeated one.
        :param option: the name of what the user wrote, for messages.
        :param known_only: leave out what is none of them, as a later version may write it, and what
            is too much.
        :returns: the fields; ``None`` for the word ``off``.
        :raises InvalidFieldError: a word is none of them, or all together are too much.
        """
        given = [word for word in dict.fromkeys(words) if word != ON]
        if OFF in given and not known_only:
            if len(given) > 1:
                raise InvalidFieldError(f"{option}: off goes with no other field")
            return None
        reader = _FieldReader(option)
        for word in given:
            try:
                reader.read(word)
            except InvalidFieldError:
                if not known_only:
                    raise
        return reader.fields()


@define
class _FieldReader:
    """Reads words, and counts what all of them cost.

    :param option: the name of what the user wrote, for messages.
    """

    option: str
    words: list[str] = field(init=False, factory=list)
    names: dict[str, list[str]] = field(init=False)
    paths: list[tuple[str, ...]] = field(init=False, factory=list)
    patterns: list[BytePattern] = field(init=False, factory=list)
    _characters: int = field(init=False, default=MOST_CHARACTERS)
    _instructions: int = field(init=False, default=MOST_INSTRUCTIONS)

    def __attrs_post_init__(self) -> None:
        self.names = {name: [] for name in ("header", "query", "form")}

    def read(self, word: str) -> None:
        """Read one word.

        :raises InvalidFieldError: it is no field, or one too many.
        """
        kind, _, name = word.partition(":")
        if kind not in (*self.names, "json", "regex") or not name:
            shown = word if len(word) <= _MOST_QUOTED else f"{word[:_MOST_QUOTED]}…"
            raise InvalidFieldError(f"{self.option}: {shown!r} is none of {ALLOWED}")
        self._characters -= len(word)
        if self._characters < 0:
            raise self._too_much(f"{MOST_CHARACTERS} characters")
        if len(self.words) >= MOST_WORDS:
            raise self._too_much(f"{MOST_WORDS} fields")
        if kind == "json":
            if len(self.paths) >= MOST_PATHS:
                raise self._too_much(f"{MOST_PATHS} paths in JSON")
            self.paths.append(path_of(name, self.option))
        elif kind == "regex":
            self.patterns.append(self._pattern(name))
        else:
            self.names[kind].append(name)
        self.words.append(word)

    def _too_much(self, most: str) -> InvalidFieldError:
        return InvalidFieldError(
            f"{self.option}: these are more than {most}, the most of one list: "
            "write several fields as one, such as json:**.email or one regex:a|b"
        )

    def _pattern(self, source: str) -> BytePattern:
        shown = source if len(source) <= _MOST_QUOTED else f"{source[:_MOST_QUOTED]}…"
        if self._instructions <= 0:
            raise self._too_much(_INSTRUCTIONS)
        pattern = BytePattern(source, most=self._instructions)
        try:
            groups = pattern.engine.groups
        except InvalidPatternError as error:
            if "too large" in str(error):
                self._instructions = 0
                raise self._too_much(_INSTRUCTIONS) from None
            raise InvalidFieldError(
                f"{self.option}: the pattern {shown!r} is invalid: {error}"
            ) from None
        if groups:
            raise InvalidFieldError(
                f"{self.option}: the pattern {shown!r} has a group, and all of a match is "
                "replaced: write (?:…) for it"
            )
        self._instructions -= pattern.engine.programsize
        if self._instructions < 0:
            raise self._too_much(_INSTRUCTIONS)
        return pattern

    def fields(self) -> NamedFields:
        """Return the fields of all words."""
        return NamedFields(
            frozenset(name.lower() for name in self.names["header"]),
            frozenset(self.names["query"]),
            frozenset(self.names["form"]),
            tuple(self.paths),
            tuple(self.patterns),
            tuple(
                BytePattern(form % "|".join(map(re.escape, self.names[kind])), any_case=any_case)
                for kind, form, any_case in _LINES
                if self.names[kind]
            ),
            tuple(self.words),
        )


def path_of(text: str, option: str = "redact") -> tuple[str, ...]:
    """Return the steps of a path, such as ``items[0].price``, ``$.user.email`` or ``**.email``.

    :raises InvalidFieldError: it has no such form.
    """
    rest = text.removeprefix("$").removeprefix(".")
    steps, at = [], 0
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None:
            raise InvalidFieldError(
                f"{option}: {text!r} is no path in JSON, such as items[0].price"
            )
        steps.append(step[1] or step[2])
        at = step.end()
    if not steps:
        raise InvalidFieldError(f"{option}: the path after json: is empty")
    return tuple(steps)


def is_at(path: Sequence[str], steps: Sequence[str]) -> bool:
    """Return whether a place in JSON is one that a path names.

    :param path: the names and indices that lead to the place.
    :param steps: those of the path, with ``*`` and ``**``.
    """
    # As for globs: after a mismatch, the last "**" takes one step more.
    here = there = 0
    star, taken = -1, 0
    while here < len(path):
        if there < len(steps) and steps[there] == "**":
            star, taken = there, here
            there += 1
        elif there < len(steps) and steps[there] in ("*", path[here]):
            here, there = here + 1, there + 1
        elif star >= 0:
            taken += 1
            here, there = taken, star + 1
        else:
            return False
    return all(step == "**" for step in steps[there:])
