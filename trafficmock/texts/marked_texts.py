"""Texts that were recorded with marks for their secrets, and what fits them."""

from __future__ import annotations

import re
from urllib.parse import unquote

MARK = re.compile(r"\[redacted:([0-9a-f]{8})\]|redacted-([0-9a-f]{8})(?=[:@]|$)")
"""A mark, and the form that stands in the user information of a URL."""


def has_marks(text: str) -> bool:
    """Return whether a mark stands in a text."""
    return MARK.search(text) is not None


_IN_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s",\[\]{}]+')
_IN_URL = re.compile(r"[^&#/?@;]*")
_IN_PAIR = re.compile(r"[^&]*")


def fits(recorded: str, actual: str, *, is_url: bool = False) -> bool:
    """Return whether a text is a recorded one, where any value may stand for a mark.

    It takes time linear in both: each mark takes the longest value that it may.

    :param recorded: a text with marks.
    :param is_url: both are URLs: a value ends with its parameter, segment or part.
    """
    if _fits(recorded, actual, is_url=is_url):
        return True
    # Clients differ in what they encode.
    return is_url and _fits(unquote(recorded), unquote(actual), is_url=True)


def _fits(recorded: str, actual: str, *, is_url: bool) -> bool:
    here = there = 0
    for found in MARK.finditer(recorded):
        literal = recorded[here : found.start()]
        quoted = literal.endswith('"') and recorded[found.end() : found.end() + 1] == '"'
        if not actual.startswith(literal[:-1] if quoted and not is_url else literal, there):
            return False
        there += len(literal)
        here = found.end()
        if is_url or not quoted:
            there = _after(recorded, here, actual, there, _IN_URL if is_url else _IN_PAIR)
            continue
        # The value of JSON may be a number, and has no quotes then.
        value = _IN_JSON.match(actual, there - 1)
        if value is None:
            return False
        there, here = value.end(), here + 1
    return actual[there:] == recorded[here:]


def _after(recorded: str, here: int, actual: str, there: int, value: re.Pattern[str]) -> int:
    """Return where the value ends that stands for a mark.

    :param here: the place after the mark.
    :param there: the place where the value begins.
    """
    following = MARK.search(recorded, here)
    literal = recorded[here : following.start() if following else len(recorded)]
    found = value.match(actual, there)
    end = found.end() if found else there
    if not literal:
        return end
    if following is None and actual.endswith(literal) and len(actual) - len(literal) >= there:
        return min(end, len(actual) - len(literal))
    at = actual.find(literal, there, end + len(literal))
    return end if at < 0 else at
