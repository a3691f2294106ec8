"""Says of words that are not among those of a list which one may be meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any


def unknown_words(
    what: str,
    given: Iterable[Any],
    known: Iterable[str],
    *,
    quoted: Callable[[Any], str] = repr,
    shown: Callable[[Any], str] | None = None,
) -> str:
    """Return the sentence about the words that are unknown; empty if there are none.

    :param what: the list, in the plural.
    :param quoted: writes a known word.
    :param shown: writes a given one, by default as ``quoted`` does.
    """
    words = {word.lower(): word for word in known}
    unknown = [word for word in given if word not in words.values()]
    if not unknown:
        return ""
    near = (get_close_matches(str(each).lower(), words, n=1) for each in unknown)
    meant = [quoted(words[each]) for found in near for each in found]
    said = ", ".join(map(shown or quoted, unknown))
    is_, hint = "are" if unknown[1:] else "is", ", ".join(dict.fromkeys(meant))
    the = f"did you mean {hint}? The" if hint else "the"
    return f"{said} {is_} unknown; {the} {what} are: {', '.join(words.values())}"
