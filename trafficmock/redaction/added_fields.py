"""What a user adds to the secrets, such as ``header:x-customer`` or ``json:user.email``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import field, frozen

from trafficmock.errors import LocalError
from trafficmock.redaction.secret_patterns import InvalidPatternError, SecretPattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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

_STEP = re.compile(r"\[(\d+|\*)\]|\.?([^.\[\]]+)")


class InvalidFieldError(LocalError):
    """What a user adds is no field."""


@frozen
class AddedFields:
    """The fields that are secret besides those of known names.

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
    patterns: tuple[SecretPattern, ...] = field(default=(), eq=False)
    lines: tuple[SecretPattern, ...] = field(default=(), eq=False)
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str], option: str = "redact") -> AddedFields | None:
        """Read what a user wrote.

        :param words: fields such as ``header:NAME``; ``on`` is ignored, and so is a repeated one.
        :param option: the name of what the user wrote, for messages.
        :returns: the fields; ``None`` for the word ``off``.
        :raises InvalidFieldError: a word is none of them.
        """
        given = list(dict.fromkeys(word for word in words if word != ON))
        if OFF in given:
            if len(given) > 1:
                raise InvalidFieldError(f"{option}: off goes with no other field")
            return None
        found: dict[str, list[str]] = {
            name: [] for name in ("header", "query", "form", "json", "regex")
        }
        for word in given:
            kind, _, name = word.partition(":")
            if kind not in found or not name:
                raise InvalidFieldError(f"{option}: {word!r} is none of {ALLOWED}")
            found[kind].append(name)
        return cls(
            frozenset(name.lower() for name in found["header"]),
            frozenset(found["query"]),
            frozenset(found["form"]),
            tuple(path_of(each, option) for each in found["json"]),
            tuple(_pattern(each) for each in found["regex"]),
            tuple(
                SecretPattern(form % "|".join(map(re.escape, found[kind])), any_case=any_case)
                for kind, form, any_case in _LINES
                if found[kind]
            ),
            tuple(given),
        )


def known_fields(words: Iterable[str]) -> list[str]:
    """Return the words that are fields here, without those that only a later version knows."""
    return [word for word in words if _is_field(word)]


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


def _is_field(word: str) -> bool:
    try:
        return AddedFields.of([word]) is not None
    except InvalidFieldError:
        return False


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


def _pattern(source: str) -> SecretPattern:
    pattern = SecretPattern(source)
    try:
        groups = pattern.engine.groups
    except InvalidPatternError as error:
        raise InvalidFieldError(f"redact: the pattern {source!r} is invalid: {error}") from None
    if groups:
        raise InvalidFieldError(
            f"redact: the pattern {source!r} has a group, and all of a match is replaced: "
            "write (?:…) for it"
        )
    return pattern
